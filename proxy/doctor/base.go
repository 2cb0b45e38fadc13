package doctor

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// endpoints are what a client puts behind its base URL by itself.
var endpoints = []string{"/responses", "/chat/completions", "/completions", "/models", "/messages"}

// cleanBase is a base URL without what does not belong to it: query, fragment,
// credential, endpoint and closing slash. "": it is no address at all.
func cleanBase(base string) string {
	u, err := url.Parse(strings.TrimFunc(strings.TrimSpace(base), isQuote))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return ""
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, end := range endpoints {
		path = strings.TrimSuffix(path, end)
	}
	return u.Scheme + "://" + u.Host + path
}

var (
	versioned = regexp.MustCompile(`/v\d+$`)
	doubled   = regexp.MustCompile(`(/v\d+)/v\d+$`)
)

// otherBases are where the API may be as well: with the version that is missing,
// or without the one that is too many.
func otherBases(base string) []string {
	u, err := url.Parse(base)
	if err != nil || base == "" || base == chatGPT {
		return nil
	}
	var others []string
	switch {
	case doubled.MatchString(base):
		others = append(others, doubled.ReplaceAllString(base, "$1"))
	case versioned.MatchString(base):
		others = append(others, versioned.ReplaceAllString(base, ""))
	default:
		others = append(others, base+"/v1")
	}
	if root := u.Scheme + "://" + u.Host + "/v1"; root != base && !slices.Contains(others, root) {
		others = append(others, root)
	}
	return others
}

// trackers are parameters by which a link in a console or a mail is followed.
var trackers = regexp.MustCompile(`(?i)^(utm_\w+|ref|aff|aff_\w+|from|source|invite\w*|channel|gclid|fbclid)$`)

// malformed is what is wrong with a base URL as it is written, "" where nothing
// is. It says no value of a query.
func malformed(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case strings.TrimSpace(base) != base || strings.ContainsFunc(base, isQuote):
		return "has blanks or quotes around it"
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return "does not begin with http:// or https://"
	case u.Hostname() == "":
		return "has no host"
	case u.User != nil:
		return "holds a credential"
	case u.RawQuery != "":
		return queried(u.Query())
	case u.Fragment != "":
		return "has a # and what follows: it is the link of a page"
	}
	path := strings.TrimRight(u.Path, "/")
	for _, end := range endpoints {
		if strings.HasSuffix(path, end) {
			return "ends in " + end + ", which the client adds by itself"
		}
	}
	return ""
}

func queried(q url.Values) string {
	for name := range q {
		if trackers.MatchString(name) {
			return "is a link with tracking parameters (" + name + ")"
		}
	}
	return "has a query, behind which the client would put /responses"
}

// checkBase says where the API is, by the look of the base URL and by what
// answered there.
func checkBase(c *Case) *Finding {
	shape := malformed(c.given.value)
	if c.first == "" {
		return c.rebased("the base URL ("+c.given.source+") "+shape, openAI)
	}
	if c.first == chatGPT {
		return unchecked("it is for ChatGPT logins, which are not read")
	}
	if len(c.replies) == 0 {
		return unchecked("nothing was asked")
	}
	first := c.replies[0]
	if first.err != nil || speaksTLS(first) {
		if shape != "" {
			return c.rebased("it "+shape, c.first)
		}
		return unchecked("nothing answers there, see the connection")
	}
	found := c.found()
	if !found && first.isPage() && first.status == http.StatusForbidden {
		return unchecked("what answers refuses everything, see access")
	}
	var faults []string
	if shape != "" {
		faults = append(faults, "it "+shape)
	}
	if c.base != c.first || !found {
		faults = append(faults, c.astray(first, found))
	}
	if len(faults) > 0 {
		return c.rebased(strings.Join(faults, "; "), c.proper(found))
	}
	return ok(fmt.Sprintf("%s (%s)", c.base, c.given.source))
}

// found says whether there is an API at the base URL that was settled for.
func (c *Case) found() bool {
	return c.at(modelsAsk).speaks() || c.at(responsesAsk).speaks() || c.at(chatAsk).speaks()
}

// astray says what is where the API should be.
func (c *Case) astray(first *reply, found bool) string {
	var what string
	switch {
	case first.status >= 300 && first.status < 400:
		what = c.first + " sends elsewhere"
		if to := cleanBase(first.header.Get("Location")); to != "" {
			what += ", to " + to
		}
	case first.isPage():
		what = c.first + " answers with a web page"
	default:
		what = fmt.Sprintf("%s/models answers %d", c.first, first.status)
	}
	switch {
	case !found:
		return what + ", and no API is found near it"
	case doubled.MatchString(c.first) && c.base == doubled.ReplaceAllString(c.first, "$1"):
		return what + ": /v1 is doubled"
	case c.base == c.first+"/v1":
		return what + ": /v1 is missing"
	case c.base == versioned.ReplaceAllString(c.first, ""):
		return what + ": its version is one too many"
	}
	return what + ", the API is elsewhere"
}

// chatGPT is the base URL of Codex with a ChatGPT login.
const chatGPT = "https://chatgpt.com/backend-api/codex"

// consoles are hosts of pages that people take for the API's.
var consoles = map[string]string{
	"platform.openai.com": openAI,
	"chatgpt.com":         openAI,
	"chat.openai.com":     openAI,
}

// proper is the base URL that would be right, "" where that is not known.
func (c *Case) proper(found bool) string {
	if found {
		return c.base
	}
	if u, err := url.Parse(c.first); err == nil {
		if api := consoles[u.Hostname()]; api != "" {
			return api
		}
	}
	if first := c.replies[0]; first.status >= http.StatusMultipleChoices && first.status < http.StatusBadRequest {
		return cleanBase(first.header.Get("Location"))
	}
	return ""
}

// rebased is a finding that the base URL must be another.
func (c *Case) rebased(words, base string) *Finding {
	if base == "" {
		return c.pointed(change(words, "take the base URL from the upstream's API documentation, not the address of its console: it usually ends in /v1"))
	}
	f := c.pointed(change(words, c.baseSetting(base)))
	if e := c.given.entry; e != nil && base != e.value {
		f.Edits = []Edit{c.Codex.Config.replace(e, base).secretly()}
	}
	return f
}

// pointed names the line of the base URL, where it is from a file.
func (c *Case) pointed(f *Finding) *Finding {
	if e := c.given.entry; e != nil {
		return f.at(c.Codex.Config, e.line)
	}
	return f
}

// isLoopbackURL says whether a base URL leads to this machine.
func isLoopbackURL(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
