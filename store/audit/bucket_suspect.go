package audit

// suspectsMost is how many failed attempts of a bucket are tried as what explains
// its difference.
const suspectsMost = 20

// explain looks for the failed attempts whose tokens are the difference. It is
// explained where exactly one set of them is.
func (b *board) explain(row *Row, at *cell, reasons []Words) {
	row.be(BucketDiffers, reasons...)
	if b.c.options.Shared && at.holds() {
		row.Differs = false
		row.Reasons = append(row.Reasons, Words{"Others use the key, and may have used the rest.", "其他人也在使用该密钥，多出的部分可能是他们的。"})
		return
	}
	var suspects []*here
	for _, h := range at.in {
		if h.failed() || h.left() {
			suspects = append(suspects, h)
		}
	}
	over := at.sum(at.in).plus(at.stated(), -1)
	if found := at.sets(suspects, over); len(found) == 1 {
		row.be(BucketExplained, Words{
			"It is exactly what ${n} failed or cancelled exchanges used, which the console did not bill.",
			"差额恰为 ${n} 条失败或中断的请求，控制台没有计费。",
		}.with("n", len(found[0])))
		row.Exchanges = ids(found[0])
		return
	}
	suspects = append(suspects, at.bare...)
	if len(suspects) > 0 {
		row.Reasons = append(row.Reasons, Words{
			"${n} exchanges in it failed, were cancelled or have no usage: it may be theirs.",
			"其中 ${n} 条请求失败、中断或没有 usage，差额可能来自它们。",
		}.with("n", len(suspects)))
	}
	row.Exchanges = ids(suspects)
}

// holds says whether the console has all that the log has, and maybe more.
func (at *cell) holds() bool {
	return at.stated().covers(at.sum(at.in)) && (at.asked == nil || *at.asked >= int64(len(at.in)))
}

// sets are the sets of suspects that add up to over, two at the most.
func (at *cell) sets(suspects []*here, over tokenSum) [][]*here {
	if len(suspects) == 0 || len(suspects) > suspectsMost || over == (tokenSum{}) {
		return nil
	}
	s := search{at: at, suspects: suspects, left: make([]tokenSum, len(suspects)+1)}
	for i := len(suspects) - 1; i >= 0; i-- {
		s.left[i] = s.left[i+1].plus(at.want(suspects[i]), 1)
	}
	s.try(0, over)
	return s.found
}

// search goes through the sets, leaving out those that cannot add up any more.
type search struct {
	at       *cell
	suspects []*here
	left     []tokenSum // what all suspects from one on add up to
	taken    []*here
	found    [][]*here
}

func (s *search) try(i int, rest tokenSum) {
	if rest == (tokenSum{}) && len(s.taken) > 0 {
		s.found = append(s.found, append([]*here(nil), s.taken...))
		return
	}
	if i == len(s.suspects) || len(s.found) > 1 || !s.left[i].covers(rest) {
		return
	}
	s.taken = append(s.taken, s.suspects[i])
	s.try(i+1, rest.plus(s.at.want(s.suspects[i]), -1))
	s.taken = s.taken[:len(s.taken)-1]
	s.try(i+1, rest)
}

// covers says whether rest is neither less than nothing nor more than s.
func (s tokenSum) covers(rest tokenSum) bool {
	return rest.in >= 0 && rest.cached >= 0 && rest.out >= 0 && rest.in <= s.in && rest.cached <= s.cached && rest.out <= s.out
}
