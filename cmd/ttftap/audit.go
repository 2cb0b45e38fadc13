package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
	consoles "github.com/ttftap/ttftap/store/audit/console"
)

type auditCommand struct {
	Files []string `arg:"" name:"file" help:"What a provider's or a gateway's console exports: CSV, JSON, lines of JSON, a zip of such, or a workbook." type:"path"`
	auditScope
	Zone   string            `help:"Zone of times that state no offset: UTC, +08:00, Asia/Shanghai. Default: this machine's, unless the rows show another." placeholder:"ZONE"`
	Map    string            `help:"Columns of an unknown header: time=COLUMN,model=COLUMN,input=COLUMN,output=COLUMN, ..." placeholder:"FIELD=COLUMN,..."`
	Shared bool              `help:"Others use the key too, past the proxy: what only the console has is no difference then."`
	Alias  map[string]string `help:"Another name of a model: NAME=OTHER. May be given again." placeholder:"NAME=OTHER" env:"-"`
	Price  map[string]string `help:"What a million tokens of a model cost, to compare money too: MODEL=IN/CACHED/OUT, with the currency behind it if it is not USD. May be given again." placeholder:"MODEL=IN/CACHED/OUT" env:"-"`
	Quota  float64           `name:"quota-per-dollar" help:"Quota that the gateway takes for a dollar." default:"500000" placeholder:"N"`
	JSON   bool              `name:"json" help:"Print all that was found as JSON." xor:"form"`
	CSV    bool              `name:"csv" help:"Print a row for each finding as CSV." xor:"form"`
	Lang   string            `help:"Language: en or zh." enum:"en,zh" default:"en"`
	Page   string            `help:"Address of the proxy, for links to its exchanges." default:"http://localhost:8838" placeholder:"URL"`
	DB     string            `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is the part of the help that tells how it ends.
func (*auditCommand) Help() string {
	return `Known are the exports of new-api, one-api, sub2api, AIProxy, LiteLLM, Helicone, Langfuse,
Cloudflare AI Gateway, OpenAI, Azure OpenAI, Anthropic, OpenRouter, DeepSeek, Zhipu, Fireworks and
Volcengine. A file is known by the names of its columns. Any other can be read with --map, for which
a proposal is made.

Exit status: 0 if all that was compared agrees, 1 if there are differences, 2 if nothing can be
compared.`
}

// Run compares files of one console with the log.
func (c *auditCommand) Run(out *console) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	costs, err := prices(c.Price)
	if err != nil {
		return err
	}
	files, err := c.read(options)
	if err != nil {
		return err
	}
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	attempts, covered, err := c.attempts(out.stop, log, files)
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	result := audit.Compare(files, attempts, audit.Options{
		Log: covered, ZoneFixed: c.Zone != "", Shared: c.Shared || c.isPart(), Aliases: c.aliases(), Prices: costs,
	})
	if err := c.print(out, result); err != nil {
		return err
	}
	switch result.Verdict {
	case audit.Clean:
		return nil
	case audit.Differences:
		return errFound
	}
	return exitStatus{code: exitUsage}
}

func (c *auditCommand) print(out *console, r *audit.Result) error {
	switch {
	case c.JSON:
		return writeIndented(out.stdout, r)
	case c.CSV:
		return r.WriteCSV(out.stdout, c.Lang, c.link)
	}
	return (&auditText{w: out.stdout, r: r, lang: c.Lang, link: c.link}).print()
}

// link is the page of an exchange.
func (c *auditCommand) link(id string) string {
	return strings.TrimSuffix(c.Page, "/") + "/-/requests/" + id
}

func (c *auditCommand) aliases() (list []audit.Alias) {
	for here, there := range c.Alias {
		list = append(list, audit.Alias{Here: here, There: there}, audit.Alias{Here: there, There: here})
	}
	return list
}

// options say how to read the files.
func (c *auditCommand) options() (o consoles.Options, err error) {
	o = consoles.Options{QuotaPerUnit: c.Quota, Zone: time.Local}
	if c.Zone != "" {
		if o.Zone, err = zone(c.Zone); err != nil {
			return o, err
		}
	}
	if c.Quota <= 0 {
		return o, usagef("--quota-per-dollar %v: want more than nothing", c.Quota)
	}
	if c.Map != "" {
		if o.Map, err = consoles.ParseMapping(c.Map); err != nil {
			return o, usagef("--map: %w", err)
		}
		if missing := o.Map.Missing(); len(missing) > 0 {
			return o, usagef("--map %s: %s is missing", c.Map, missing[0])
		}
	}
	return o, nil
}

// zone reads a zone by its offset or its name.
func zone(s string) (*time.Location, error) {
	offset := strings.TrimPrefix(strings.TrimPrefix(s, "UTC"), "GMT")
	for _, layout := range []string{"-07:00", "-0700", "-07", "-7"} {
		if t, err := time.Parse(layout, offset); err == nil {
			_, seconds := t.Zone()
			return time.FixedZone(s, seconds), nil
		}
	}
	if strings.EqualFold(s, "local") {
		return time.Local, nil
	}
	if where, err := time.LoadLocation(s); err == nil && s != "" {
		return where, nil
	}
	return nil, usagef("--zone %q: want UTC, an offset such as +08:00, or a name such as Asia/Shanghai", s)
}

// read reads the files.
func (c *auditCommand) read(o consoles.Options) (files []audit.File, err error) {
	for _, path := range c.Files {
		read, err := c.readFile(path, o)
		if err != nil {
			return nil, err
		}
		files = append(files, read...)
	}
	return files, nil
}

func (c *auditCommand) readFile(path string, o consoles.Options) ([]audit.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close()
	at, err := f.Stat()
	if err == nil && !at.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, usageError{err}
	}
	files, err := consoles.Read(filepath.Base(path), f, at.Size(), o)
	if said, ok := err.(interface{ In(lang string) string }); ok {
		err = errors.New(said.In(c.Lang))
	}
	if err != nil {
		return nil, usageError{err}
	}
	return files, nil
}
