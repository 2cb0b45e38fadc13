package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// defaultDB is the log's place in the user's data folder.
func defaultDB() string { return filepath.Join(dataFolder(), "ttftap", "ttftap.db") }

// orDefault is the path of a log, the default one where none is named.
func orDefault(path string) string {
	if path == "" {
		return defaultDB()
	}
	return path
}

func dataFolder() string {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir() // a user without a home, as in a bare container
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	case "windows":
		if d := os.Getenv("LOCALAPPDATA"); d != "" {
			return d
		}
		return filepath.Join(home, "AppData", "Local")
	}
	return filepath.Join(home, ".local", "share")
}
