package proxy

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// digester hashes the sections of prompts, each with all before it, by keys that
// only this install has. A prompt of megabytes is hashed at each request: SHA-256
// reads no more than its digest, which is that of NH, the universal hash of UMAC
// (RFC 4418), with the words of 64 bits that VMAC has. Without the key nobody finds
// two texts of one digest but by a chance of 2^-64 a try, and with it a text can be
// guessed but not be reckoned back, as of an HMAC.
type digester struct {
	seal  [24]byte
	words [stretch / 8]uint64
}

// newDigester takes its keys from a secret.
func newDigester(secret []byte) (*digester, error) {
	d := new(digester)
	keys, err := hkdf.Key(sha256.New, secret, nil, "sections of prompts", len(d.seal)+stretch)
	if err != nil {
		return nil, err
	}
	for i := range d.words {
		d.words[i] = binary.LittleEndian.Uint64(keys[copy(d.seal[:], keys)+8*i:])
	}
	return d, nil
}

// next is the hash of a text of at most a stretch that stands behind what has the
// hash before, as what the label says.
func (d *digester) next(before uint64, label byte, text []byte) uint64 {
	high, low := d.digest(text)
	block := make([]byte, 0, len(d.seal)+8+16+4+1) // all that SHA-256 takes in one go
	block = append(block, d.seal[:]...)
	block = binary.LittleEndian.AppendUint64(block, before)
	block = binary.LittleEndian.AppendUint64(block, high)
	block = binary.LittleEndian.AppendUint64(block, low)
	block = binary.LittleEndian.AppendUint32(block, uint32(len(text)))
	sum := sha256.Sum256(append(block, label))
	return binary.LittleEndian.Uint64(sum[:])
}

// digest is NH of a text, filled up with zeros: its length is to be told apart.
func (d *digester) digest(text []byte) (high, low uint64) {
	words := d.words[:]
	for ; len(text) >= 16 && len(words) > 2; text, words = text[16:], words[2:] {
		high, low = multiply(high, low, binary.LittleEndian.Uint64(text)+words[0], binary.LittleEndian.Uint64(text[8:])+words[1])
	}
	var rest [16]byte
	copy(rest[:], text)
	return multiply(high, low, binary.LittleEndian.Uint64(rest[:])+words[0], binary.LittleEndian.Uint64(rest[8:])+words[1])
}

// multiply adds the product of a and b.
func multiply(high, low, a, b uint64) (uint64, uint64) {
	h, l := bits.Mul64(a, b)
	low, carry := bits.Add64(low, l, 0)
	high, _ = bits.Add64(high, h, carry)
	return high, low
}
