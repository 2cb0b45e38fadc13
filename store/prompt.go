package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// promptValue is a prompt as it is kept, nil without one.
func promptValue(prompt []exchange.Boundary) any {
	if len(prompt) == 0 {
		return nil
	}
	return encodePrompt(prompt)
}

// prompt reads the prompt of one exchange, nil where none is kept.
func (s *Store) prompt(ctx context.Context, id string) ([]exchange.Boundary, error) {
	var b []byte
	err := s.conns().reader.QueryRowContext(ctx,
		"SELECT boundaries FROM prompt WHERE id = ?1 UNION ALL SELECT boundaries FROM aloft WHERE id = ?1 AND boundaries IS NOT NULL", id).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodePrompt(b)
}

// EachPrompt calls fn with the newest exchanges whose prompt is kept, limit of
// them at most, the oldest first. Each is fn's own. Lists come without prompts.
func (s *Store) EachPrompt(ctx context.Context, limit int, fn func(x *exchange.Exchange)) error {
	// Ids are in the order of their times.
	rows, err := s.conns().reader.QueryContext(ctx, selectAll+", boundaries FROM prompt JOIN exchange USING (id)"+
		" WHERE id >= (SELECT min(id) FROM (SELECT id FROM prompt ORDER BY id DESC LIMIT ?)) ORDER BY id", limit)
	if err != nil {
		return fmt.Errorf("read prompts: %w", err)
	}
	defer rows.Close()
	d := newDecoder()
	var boundaries []byte
	for rows.Next() {
		err := d.scan(func(dest ...any) error { return rows.Scan(append(dest, &boundaries)...) })
		if err != nil {
			return fmt.Errorf("read prompts: %w", err)
		}
		x := d.x
		if x.Prompt, err = decodePrompt(boundaries); err != nil {
			return fmt.Errorf("read prompts: exchange %q: %w", x.ID, err)
		}
		fn(&x)
	}
	return wrap(rows.Err(), "read prompts")
}

// A prompt is kept as a byte for the form, then for each boundary a byte for the
// part, with a bit of its own for an inner one, the size, and the hash.
const (
	promptForm = 1
	innerBit   = 0x80
)

var errPrompt = errors.New("the kept prompt is damaged, or of a newer form")

func encodePrompt(prompt []exchange.Boundary) []byte {
	b := append(make([]byte, 0, 1+12*len(prompt)), promptForm)
	for _, at := range prompt {
		part := byte(at.Part)
		if at.Inner {
			part |= innerBit
		}
		b = binary.AppendUvarint(append(b, part), uint64(at.Bytes))
		b = binary.LittleEndian.AppendUint64(b, at.Hash)
	}
	return b
}

func decodePrompt(b []byte) ([]exchange.Boundary, error) {
	if len(b) == 0 || b[0] != promptForm {
		return nil, errPrompt
	}
	var prompt []exchange.Boundary
	for b = b[1:]; len(b) > 0; {
		part := b[0]
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || len(b) < 1+n+8 {
			return nil, errPrompt
		}
		b = b[1+n:]
		prompt = append(prompt, exchange.Boundary{
			Part: exchange.Part(part &^ innerBit), Inner: part&innerBit != 0, Bytes: int64(size), Hash: binary.LittleEndian.Uint64(b),
		})
		b = b[8:]
	}
	return prompt, nil
}
