package proxy

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"github.com/minio/highwayhash"
)

// digester hashes the sections of prompts, each with all before it, by a key that
// only this install has. A prompt of megabytes is hashed at each request:
// HighwayHash is keyed like an HMAC, and takes a small part of its time.
type digester struct{ key []byte }

// newDigester takes its key from a secret.
func newDigester(secret []byte) (*digester, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "sections of prompts", highwayhash.Size)
	return &digester{key}, err
}

// next is the hash of a text that stands behind what has the hash before, as what
// the label says.
func (d *digester) next(before uint64, label byte, text []byte) uint64 {
	sum := highwayhash.Sum128(text, d.key)
	var block [8 + len(sum) + 4 + 1]byte
	binary.LittleEndian.PutUint64(block[:], before)
	copy(block[8:], sum[:])
	binary.LittleEndian.PutUint32(block[8+len(sum):], uint32(len(text)))
	block[len(block)-1] = label
	sum = highwayhash.Sum128(block[:], d.key)
	return binary.LittleEndian.Uint64(sum[:])
}
