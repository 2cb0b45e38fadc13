package web

// hotkey is an entry of the list of keys. The script knows what they do.
type hotkey struct {
	Keys []string // each of them does it
	Then string   // the key to be pressed after it; "" for none
	Word string   // what it does; in hotkeys the end of the phrase's key
}

// hotkeys are the keys that the page takes where its script runs.
var hotkeys = []hotkey{
	{[]string{"j", "k", "↓", "↑"}, "", "move"},
	{[]string{"Enter"}, "", "open"},
	{[]string{"u", "Esc"}, "", "back"},
	{[]string{"/"}, "", "search"},
	{[]string{"x"}, "", "pick"},
	{[]string{"c"}, "", "compare"},
	{[]string{"f"}, "", "bound"},
	{[]string{"r"}, "", "refresh"},
	{[]string{"p"}, "", "pause"},
	{[]string{"e"}, "", "export"},
	{[]string{"y"}, "", "copy"},
	{[]string{"g"}, "l", "log"},
	{[]string{"g"}, "c", "charts"},
	{[]string{"g"}, "m", "models"},
	{[]string{"g"}, "e", "experiments"},
	{[]string{"g"}, "a", "audit"},
	{[]string{"g"}, "s", "connect"},
	{[]string{"?"}, "", "help"},
}

// Keys is the list of keys in the page's language.
func (p page) Keys() []hotkey {
	var all []hotkey
	for _, k := range hotkeys {
		all = append(all, hotkey{k.Keys, k.Then, p.Language.say("keys." + k.Word)})
	}
	return all
}
