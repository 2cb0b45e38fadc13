package doctor

import (
	"net/http"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// clockLimit is how far the clocks may be apart until rows and a console's export
// are hard to match.
const clockLimit = 5 * time.Second

// checkClock compares this machine's clock with the upstream's Date.
func checkClock(c *Case) *Finding {
	off, told := c.clockOffset()
	switch {
	case !told:
		return unchecked("no answer bears a Date")
	case off.Abs() <= clockLimit:
		return ok("within " + figure.Duration(new(clockLimit)) + " of the upstream's")
	}
	way := "behind"
	if off > 0 {
		way = "ahead of"
	}
	apart := off.Abs().Round(time.Second)
	return change("this machine's clock is "+apart.String()+" "+way+" the upstream's",
		"set it by the network: timedatectl set-ntp true; on macOS: sudo sntp -sS time.apple.com")
}

// clockOffset is how far ahead of the upstream's clock this one is. A Date has
// whole seconds, so that half of one is added to it.
func (c *Case) clockOffset() (off time.Duration, told bool) {
	for _, r := range c.replies {
		date, err := http.ParseTime(r.header.Get("Date"))
		if r.came() && err == nil && r.kind != healthAsk {
			return r.asked.Add(r.took / 2).Sub(date.Add(time.Second / 2)), true
		}
	}
	return 0, false
}
