package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"github.com/ttftap/ttftap/migrations"
)

const versionTable = "ttftap_schema"

func migrator(db *sql.DB) (*goose.Provider, error) {
	return goose.NewProvider(goose.DialectSQLite3, db, migrations.FS,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

func upgrade(ctx context.Context, db *sql.DB) error {
	m, err := migrator(db)
	if err != nil {
		return err
	}
	_, err = m.Up(ctx)
	return err
}

// checkUpgradable says why the file behind db cannot become a log of this
// version. It writes nothing.
func checkUpgradable(ctx context.Context, db *sql.DB) error {
	found, known, err := versions(ctx, db)
	if err == nil && found > known {
		err = fmt.Errorf("it was written by a newer ttftap (schema %d, this one knows %d): use that one, or choose another file by --db", found, known)
	}
	return err
}

// checkReadable says why the file behind db is no log of this very version.
func checkReadable(ctx context.Context, db *sql.DB) error {
	if err := checkUpgradable(ctx, db); err != nil {
		return err
	}
	found, known, err := versions(ctx, db)
	if err == nil && found < known {
		err = fmt.Errorf("it was written by an older ttftap (schema %d, this one needs %d): start ttftap serve on it once", found, known)
	}
	return err
}

// versions returns the schema that the file has, 0 if it is empty, and the newest
// one that this program knows.
func versions(ctx context.Context, db *sql.DB) (found, known int64, err error) {
	m, err := migrator(db)
	if err != nil {
		return 0, 0, err
	}
	for _, source := range m.ListSources() {
		known = source.Version
	}
	found, err = version(ctx, db)
	return found, known, err
}

func version(ctx context.Context, db *sql.DB) (int64, error) {
	var tables, own int
	err := db.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE name = ?) FROM sqlite_schema", versionTable).
		Scan(&tables, &own)
	if err != nil || tables == 0 {
		return 0, err
	}
	if own == 0 {
		return 0, errors.New("it is the SQLite file of another program, and was left as it is: choose another file by --db")
	}
	var v int64
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable).Scan(&v)
	return v, err
}

// explain adds what to do to the errors that a user can see to.
func explain(err error) error {
	switch {
	case hasCode(err, sqlitelib.SQLITE_NOTADB, sqlitelib.SQLITE_CORRUPT):
		return fmt.Errorf("it is damaged or no SQLite file, and was left as it is: move it away, put a backup in its place, or choose another file by --db: %w", err)
	case errors.Is(err, fs.ErrPermission), hasCode(err, sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN):
		return fmt.Errorf("this user has not the right to: see to the rights of the file and its folder, or choose another file by --db: %w", err)
	}
	return err
}

// hasCode says whether err comes from SQLite with one of these primary codes.
func hasCode(err error, codes ...int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
}
