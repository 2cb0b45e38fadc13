package console

import (
	"archive/zip"
	"errors"
	"path"
	"strings"

	"github.com/ttftap/ttftap/store/audit"
)

// unzip reads a workbook, or each file in a zip. What a zip claims of its sizes
// is checked before anything is unpacked, and holds for what comes out.
func (p part) unzip(o Options) ([]audit.File, error) {
	z, err := zip.NewReader(p.at, p.size)
	if err != nil {
		return nil, p.broken(err)
	}
	if err := p.checkSizes(z); err != nil {
		return nil, err
	}
	if isWorkbook(z) {
		return p.workbook(z, o)
	}
	var files []audit.File
	var unknown *UnknownHeader
	for _, f := range z.File {
		if !isExport(f) {
			continue
		}
		m := part{name: p.name + "/" + f.Name, size: int64(f.UncompressedSize64), open: f.Open}
		read, err := m.read(o)
		if err != nil && !(errors.As(err, &unknown) && o.Map == nil) {
			return nil, err
		}
		files = append(files, read...)
	}
	switch {
	case len(files) == 0 && unknown != nil:
		return nil, unknown
	case len(files) == 0:
		return nil, p.refuse("there is no CSV or JSON in it: unpack what is in it first", "压缩包中没有 CSV 或 JSON：请先解压其中的文件")
	case unknown != nil:
		files[0].Warnings = append(files[0].Warnings, audit.Warning{Say: say("%s beside it was left aside: its header is not known", "未读取同一压缩包中的 %s：表头未知", unknown.File)})
	}
	return files, nil
}

func (p part) checkSizes(z *zip.Reader) error {
	if len(z.File) > maxMembers && !isWorkbook(z) {
		return p.refuse("it holds more than %d files: unpack the one that you need", "压缩包中的文件超过 %d 个：请只解压需要的文件", maxMembers)
	}
	limit := int64(MaxFile)
	if isWorkbook(z) {
		limit = maxWorkbook
	}
	var sum uint64
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return p.refuse("it has a password: unpack it first", "压缩包有密码：请先解压")
		}
		if sum += f.UncompressedSize64; f.UncompressedSize64 > uint64(limit) || sum > uint64(limit) {
			return p.refuse("it would unpack to more than %s: export a shorter time", "解压后会超过 %s：请导出更短的时间段", large(limit))
		}
	}
	return nil
}

func isWorkbook(z *zip.Reader) bool {
	for _, f := range z.File {
		if strings.EqualFold(f.Name, "xl/workbook.xml") {
			return true
		}
	}
	return false
}

// isExport leaves aside what systems and vendors put beside the tables.
func isExport(f *zip.File) bool {
	base := path.Base(f.Name)
	if f.FileInfo().IsDir() || strings.HasPrefix(base, ".") || strings.HasPrefix(f.Name, "__MACOSX/") {
		return false
	}
	switch strings.ToLower(path.Ext(base)) {
	case ".csv", ".tsv", ".json", ".jsonl", ".ndjson":
		return true
	}
	return false
}
