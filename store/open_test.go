package store

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheLogIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	path := filepath.Join(t.TempDir(), "new", "folder", "log.db")
	s := openAt(t, path)
	save(t, s, typical(1))
	wantMode(t, filepath.Dir(path), 0o700)
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		wantMode(t, path+suffix, 0o600)
	}
}

func TestRightsOfOthersAreTakenFromAnOlderFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	path := filepath.Join(t.TempDir(), "log.db")
	openAt(t, path).Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	save(t, s, typical(1))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		wantMode(t, path+suffix, 0o600)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, want %o", path, got, want)
	}
}

func TestEveryConnectionHasItsSettings(t *testing.T) {
	s := openTemp(t)
	pools := map[string]struct {
		db *sql.DB
		n  int
	}{"reader": {s.conns().reader, readers}, "writer": {s.conns().writer, 1}}
	for name, pool := range pools {
		for range pool.n { // all held at once, so that each is another one
			conn, err := pool.db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for pragma, want := range map[string]string{
				"journal_mode": "wal",
				"busy_timeout": "5000",
				"query_only":   map[string]string{"reader": "1", "writer": "0"}[name],
			} {
				var got string
				if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
					t.Errorf("%s: %s is %q, want %q (%v)", name, pragma, got, want, err)
				}
			}
		}
	}
}

func TestAnyFileNameIsTakenAsItIs(t *testing.T) {
	for _, name := range []string{"a b.db", "100%.db", "what?.db", "#1.db", "模型.db", "?mode=memory", "a&b=c"} {
		path := filepath.Join(t.TempDir(), name)
		s := openAt(t, path)
		save(t, s, typical(1))
		s.Close()
		if file, err := os.Stat(path); err != nil || file.Size() == 0 {
			t.Errorf("%q: nothing was written there (%v)", name, err)
		}
	}
}

// refusals are files that must not be opened, and a word that the error has.
var refusals = map[string]struct {
	make func(t *testing.T, path string)
	word string
}{
	"of a newer version": {func(t *testing.T, path string) {
		openAt(t, path).Close()
		alter(t, path, "INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (9999, 1)")
	}, "newer"},
	"no database": {func(t *testing.T, path string) {
		write(t, path, bytes.Repeat([]byte("not a database. "), 1000))
	}, "damaged"},
	"cut off": {func(t *testing.T, path string) {
		s := openAt(t, path)
		save(t, s, typicals(0, 100)...)
		s.Close()
		if err := os.Truncate(path, 10_000); err != nil {
			t.Fatal(err)
		}
	}, "damaged"},
	"of another program": {func(t *testing.T, path string) {
		alter(t, path, "CREATE TABLE bookmark (url TEXT)")
	}, "another program"},
}

func TestAFileThatIsNoLogOfThisVersionIsRefusedAndLeftAsItIs(t *testing.T) {
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			refusal.make(t, path)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			before := content(t, path)
			for _, open := range []func() (*Store, error){
				func() (*Store, error) { return Open(t.Context(), path) },
				func() (*Store, error) { return OpenReader(t.Context(), path) },
			} {
				s, err := open()
				if err == nil {
					s.Close()
					t.Fatal("it was opened")
				}
				if !strings.Contains(err.Error(), refusal.word) || !strings.Contains(err.Error(), "--db") {
					t.Errorf("the error does not say what to do: %v", err)
				}
				if !bytes.Equal(before, content(t, path)) {
					t.Fatal("it was changed")
				}
				if runtime.GOOS != "windows" {
					wantMode(t, path, 0o644)
				}
			}
		})
	}
}

func TestAnOlderLogIsUpgradedByTheWriterAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrator(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO exchange (id, started_at, outcome) VALUES ('01', 1, 'ok'), ('02', 2, 'open')"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := OpenReader(t.Context(), path); err == nil || !strings.Contains(err.Error(), "older") {
		t.Errorf("a reader does not say that the log is older: %v", err)
	}
	s := openAt(t, path)
	if _, err := s.Exchange(t.Context(), "01"); err != nil {
		t.Errorf("the upgrade lost a row: %v", err)
	}
	wantInterrupted(t, s, "02")
	secret(t, s) // of the newer schema
}

func TestASecondRecordingProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	openAt(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, link} {
		if _, err := Open(t.Context(), name); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAReaderReadsBesideTheWriterAndChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path)
	save(t, s, bare("01", exchange.Open))
	reader, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	save(t, s, bare("02", exchange.OK))
	if n, err := reader.Count(t.Context(), Filter{IncludeOpen: true}); n != 2 || err != nil {
		t.Errorf("the reader sees %d rows (%v)", n, err)
	}
	if x, err := s.Exchange(t.Context(), "01"); err != nil || x.Outcome != exchange.Open {
		t.Errorf("the reader ended an exchange: %v, %v", x, err)
	}
	if err := reader.Save(t.Context(), typicals(0, 1)); err == nil {
		t.Error("the reader saved a row")
	}
}

func TestAReaderOfNoLogMakesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	if _, err := OpenReader(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made")
	}
}

func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if _, err := Open(t.Context(), filepath.Join(file, "log.db")); err == nil {
		t.Error("no error")
	}
}

func TestALogThatOneMayNotWriteIsAnErrorThatSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	openAt(t, path).Close()
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err == nil { // root may
		s.Close()
		err = explain(&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission})
	}
	if !strings.Contains(err.Error(), "--db") || !strings.Contains(err.Error(), "rights") {
		t.Errorf("got %v", err)
	}
}

func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
