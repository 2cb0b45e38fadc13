package proxy_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/ttftap/ttftap/"

// arrows are the imports that may not be, each with its reason. The bare module
// stands for every package of it.
var arrows = []struct{ from, to, why string }{
	{"proxy/exchange", module, "the words know nothing of what is done with them"},
	{"proxy/sse", module, "cutting bytes knows no meaning"},
	{"proxy/websocket", module, "cutting bytes knows no meaning"},
	{"proxy/websocket", "net/http", "reading frames knows no connection"},
	{"proxy/dialect", "net/http", "meaning knows no transport"},
	{"proxy/dialect", module + "proxy/meter", "meaning knows no time"},
	{"proxy/dialect", module + "proxy/sse", "a message is a name and bytes, however it was cut"},
	{"proxy/meter", "net/http", "measuring knows no transport"},
	{"proxy/meter", module + "proxy/diagnosis", "facts do not depend on verdicts"},
	{"proxy/meter", module + "proxy/sse", "the meter sees events, not bytes"},
	{"proxy/diagnosis", module + "proxy/dialect", "a verdict is a function of the row alone"},
	{"proxy/diagnosis", module + "proxy/meter", "a verdict is a function of the row alone"},
	{"proxy/diagnosis", "database/sql", "a verdict is a function of the row alone"},
	{"proxy/diagnosis/figure", module, "how a number is written knows nothing of what it counts"},
	{"proxy/diagnosis/experiment", module + "proxy/dialect", "a finding is a function of the rows alone"},
	{"proxy/diagnosis/experiment", "net/http", "a finding is a function of the rows alone"},
	{"proxy/diagnosis/experiment", "database/sql", "a finding is a function of the rows alone"},
	{"proxy/doctor", module + "proxy", "a check is a function of what was asked, not of the proxy"},
	{"proxy/doctor", module + "store", "a check is told what the log says"},
	{"proxy/doctor", module + "web", "a check is told what the log says"},
	{"proxy/doctor", "database/sql", "a check is told what the log says"},
	{"proxy/simulator", module + "proxy/dialect", "the truth must not be read by what it checks"},
	{"proxy/simulator", module + "proxy/meter", "the truth must not be read by what it checks"},
	{"proxy/probe", module + "proxy", "a probe is a client, and learns what any client can"},
	{"proxy/probe", module + "store", "a probe asks for the log over HTTP"},
	{"proxy/probe", module + "web", "a probe asks for the log over HTTP"},
	{"proxy", module + "store", "the proxy is given a function, not a database"},
	{"proxy", module + "web", "the proxy serves no page"},
	{"proxy", "database/sql", "the proxy is given a function, not a database"},
	{"store", module + "proxy", "the store keeps exchanges, whoever made them"},
	{"store", module + "proxy/meter", "the store keeps facts, it makes none"},
	{"store", module + "web", "the store serves no page"},
	{"store", module + "store/large", "large logs are for benchmarks"},
	{"cmd/ttftap", module + "store/large", "large logs are for benchmarks"},
	{"web", module + "store/large", "large logs are for benchmarks"},
	{"store/audit", "net/http", "a comparison is a function of two lists"},
	{"store/audit", "database/sql", "a comparison is a function of two lists"},
	{"store/audit", module + "store", "a comparison is a function of two lists"},
	{"store/audit", module + "proxy/diagnosis", "a comparison counts tokens, it judges no time"},
	{"store/audit", module + "store/audit/console", "what was read knows nothing of files"},
	{"store/audit/console", module + "store", "reading a file knows no log"},
	{"store/audit/console", "database/sql", "reading a file knows no log"},
	{"store/audit/console", "net/http", "reading a file knows no transport"},
	{"store/audit/console", "os", "a file is bytes, wherever they are from"},
	{"store", module + "store/audit", "the store keeps rows, it compares none"},
	{"web", module + "proxy", "the page reads the log, not the proxy"},
	{"web", module + "proxy/meter", "the page shows facts, it makes none"},
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportsKeepToTheirRooms(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string][]string)
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		imports[strings.TrimPrefix(p.ImportPath, module)] = p.Imports
	}
	for _, a := range arrows {
		if imports[a.from] == nil {
			t.Errorf("there is no package %s", a.from)
		}
		for _, to := range imports[a.from] {
			if to == a.to || a.to == module && strings.HasPrefix(to, module) {
				t.Errorf("%s imports %s: %s", a.from, to, a.why)
			}
		}
	}
}
