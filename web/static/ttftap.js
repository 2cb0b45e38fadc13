// The one script of the page: live log, keys, copying, comparison, the reader's
// theme and time zone. All else works without it. Its words come with the page.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector)
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)]
  const root = document.documentElement, words = $("#words").dataset
  const kept = (name, v) => { // a browser may forbid to keep anything
    try { return v ? localStorage["ttftap-" + name] = v : localStorage["ttftap-" + name] } catch { }
  }
  const parse = html => {
    const t = document.createElement("template")
    t.innerHTML = html
    return t.content
  }
  root.classList.add("script")

  // The theme: the system's, or the reader's own.
  const theme = $("#theme"), after = { auto: "light", light: "dark", dark: "auto" }
  const setTheme = name => {
    root.dataset.theme = name
    theme.textContent = theme.dataset[name]
    theme.onclick = () => setTheme(kept("theme", after[name]) || after[name])
  }
  setTheme(kept("theme") in after ? kept("theme") : "auto")

  // The time zone: the browser's, where it is another one than the page's.
  const pad = n => String(n).padStart(2, "0")
  const offset = -new Date().getTimezoneOffset(), size = Math.abs(offset)
  const zone = (offset < 0 ? "-" : "+") + pad(Math.floor(size / 60)) + ":" + pad(size % 60)
  const localise = within => {
    if (Number(document.body.dataset.zone) === offset) return
    for (const name of $$("[data-zone-name]", within)) name.textContent = "UTC" + zone.replace(":00", "")
    for (const time of $$("time[datetime]", within)) {
      const at = new Date(Date.parse(time.dateTime) + offset * 60000), text = time.firstChild
      if (isNaN(at) || text?.nodeType !== Node.TEXT_NODE) continue
      const [day, hour] = at.toISOString().split(/[T.]/)
      text.data = text.data.replace(/\d{4}-\d\d-\d\d/, day).replace(/\d\d:\d\d:\d\d/, hour).replace(/[+-]\d\d:\d\d$/, zone)
    }
  }
  localise(document)

  // Copying.
  const isCopied = text => {
    const area = document.createElement("textarea"), focused = document.activeElement
    area.className = "hush"
    area.value = text
    document.body.append(area)
    area.select()
    const ok = document.execCommand("copy")
    area.remove()
    focused?.focus({ preventScroll: true })
    return ok
  }
  const copy = async (text, button) => {
    const ok = await navigator.clipboard?.writeText(text).then(() => true, () => 0) || isCopied(text)
    const word = $("#said").textContent = ok ? words.copied : words.uncopied
    if (!button || button.dataset.was) return
    button.dataset.was = button.textContent
    button.textContent = word
    setTimeout(() => {
      button.textContent = button.dataset.was
      delete button.dataset.was
    }, 1500)
  }
  document.addEventListener("click", e => {
    const button = e.target.closest("[data-copy], [data-copy-from]")
    if (button) copy(button.dataset.copy ?? $("#" + button.dataset.copyFrom).textContent, button)
  })

  // The rows of the log, and the two that are picked to be compared.
  const body = $("table.log tbody"), compare = $("#compare")
  const rows = () => body ? $$("tr.exchange", body) : []
  const runs = row => row.matches(".running")
  const current = () => document.activeElement.closest("tr.exchange")
  let picked = []
  const pick = (row, on) => {
    picked = picked.filter(id => id !== row.dataset.id).concat(on ? row.dataset.id : []).slice(-2)
    for (const r of rows()) $(".pick", r).checked = picked.includes(r.dataset.id)
    const both = picked.length === 2, [one, two] = compare.children
    compare.hidden = !picked.length
    one.hidden = both
    two.hidden = !both
    two.search = new URLSearchParams({ a: picked[0], b: picked[1] })
  }
  body?.addEventListener("change", e => e.target.matches(".pick") && pick(e.target.closest("tr"), e.target.checked))

  // grow shows how long those under way are so far.
  const born = new WeakMap()
  const grow = () => {
    for (const row of $$("tr.running[data-so-far]", body)) {
      if (!born.has(row)) born.set(row, performance.now())
      const ms = Number(row.dataset.soFar) + performance.now() - born.get(row)
      const clock = $("[data-clock]", row), piece = $$(".bar > rect", row).at(-1)
      clock.textContent = ms < 999500 ? (ms / 1000).toFixed(ms < 99950 ? 1 : 0) : (ms / 60000).toFixed(1)
      clock.nextElementSibling.textContent = ms < 999500 ? "s" : "min"
      const end = Math.min(100, 100 * ms / Number(body.parentElement.dataset.axis))
      piece?.setAttribute("width", Math.max(0, end - parseFloat(piece.getAttribute("x"))).toFixed(2) + "%")
    }
  }

  // group is a row with what is said above and below it.
  const group = row => [row.previousElementSibling, row, row.nextElementSibling].
    filter((e, i) => e?.matches([".break", "tr", ".why"][i]))
  const before = (content, row) => body.insertBefore(content, row ? group(row)[0] : null)

  // put shows a row in its place: those under way on top, each kind the newest first.
  const put = (kind, id, html) => {
    const content = parse(html), row = $("tr.exchange", content)
    if (kind === "gap") return before(content, rows().find(r => !runs(r)))
    const old = rows().find(r => r.dataset.id === id)
    if (old && !runs(old)) return
    const hasFocus = old?.contains(document.activeElement)
    if (old) group(old).forEach(e => e.remove())
    if (!row) return
    localise(content)
    $(".pick", row).checked = picked.includes(id)
    before(content, rows().find(r => runs(r) === runs(row) ? Number(r.dataset.at) <= Number(row.dataset.at) : runs(row)))
    if (hasFocus) $("td.c-time a", row).focus({ preventScroll: true })
  }
  const most = 500
  const trim = () => {
    $("#shown").hidden = true // it counts those that were there at first
    for (let over = rows().length - most; over > 0; body.lastElementChild.remove()) {
      if (body.lastElementChild.matches(".exchange")) over--
      $(".pages [rel=next]")?.remove() // that page begins further down
    }
  }

  // patch renews what is above the table, but not under the reader's hands.
  const patch = html => {
    for (const now of $$("[data-part]", parse(html))) {
      const old = $(`[data-part="${now.dataset.part}"]`)
      if (!old || old.isEqualNode(now) || old.matches(":focus-within")) continue
      if (![...old.options ?? []].some(o => o.selected !== o.defaultSelected)) old.replaceWith(now)
    }
  }

  // What the server tells is held while the reader reads.
  const host = $("main[data-live]"), pulse = $("#pulse"), pause = $("#pause"), fresh = $("#fresh")
  const held = new Map() // by the exchange's id
  let source, last, parts, paused = false, lost = false, isOld = false
  const show = () => {
    const is = paused ? "paused" : lost ? "disconnected" : source?.readyState === 1 && body ? "live" : "waiting"
    if (pulse.dataset.is !== is) pulse.lastChild.data = pulse.dataset[pulse.dataset.is = is]
  }
  const isHeld = () => paused || !document.getSelection().isCollapsed
  const isReading = () => isHeld() || body?.parentElement.getBoundingClientRect().top < -4
  const settle = force => {
    if (isOld && (force || !isReading())) return location.reload()
    if (parts && !isHeld()) {
      patch(parts)
      parts = undefined
    }
    if (held.size && (force || !isReading())) {
      for (const [id, [kind, html]] of held) put(kind, id, html)
      held.clear()
      trim()
      grow()
    }
    const n = [...held.values()].filter(([kind, html]) => kind === "finished" && html).length
    fresh.hidden = !n && !isOld
    fresh.textContent = isOld ? words.again : words.fresh.replace("%s", n)
  }
  const take = (kind, { id, html }) => {
    isOld ||= kind === "reset" || html && host.dataset.reload?.split(" ").includes(kind)
    if (kind === "recorder") return patch(html)
    if (!body) return isOld && location.reload()
    if (kind === "summary") {
      parts = html
    } else if (id && !html && !held.has(id) && !rows().some(r => r.dataset.id === id)) {
      return
    } else if (kind === "phase" && !held.has(id) && !isHeld()) {
      put(kind, id, html)
    } else if (!isOld) {
      held.delete(id ?? kind)
      held.set(id ?? kind, [kind, html])
      isOld = held.size > most
    }
    settle()
  }
  const connect = () => {
    const url = new URL(host.dataset.live, location)
    if (last) url.searchParams.set("since", last)
    const mine = source = new EventSource(url)
    mine.onopen = mine.onerror = e => {
      lost = e.type === "error"
      show()
      if (mine.readyState === 2) setTimeout(() => mine === source && connect(), 10000) // turned away
    }
    for (const kind of ["started", "phase", "finished", "gap", "summary", "recorder", "reset"]) mine.addEventListener(kind, e => {
      last = e.lastEventId || last
      take(kind, JSON.parse(e.data))
    })
  }
  const follow = () => { // a tab that nobody sees needs no connection
    source?.close()
    source = undefined
    if (!document.hidden) connect()
  }
  if (host) {
    pulse.hidden = false
    show()
    follow()
    document.addEventListener("visibilitychange", follow)
  }
  if (host && body) {
    pause.hidden = false
    pause.onclick = () => {
      pause.ariaPressed = paused = !paused
      show()
      settle()
    }
    fresh.onclick = () => {
      settle(true)
      scrollTo(0, 0)
    }
    addEventListener("scroll", () => fresh.hidden || settle(), { passive: true })
    document.addEventListener("selectionchange", () => settle())
    setInterval(() => paused || document.hidden || grow(), 1000)
  }
  if (location.pathname === "/-/") sessionStorage["ttftap-log"] = location.search

  // Keys: what most of them press is said by the page, in data-key and data-go.
  const help = $("#help"), shortcuts = $("#shortcuts")
  shortcuts.checked = kept("keys") !== "off"
  shortcuts.onchange = () => kept("keys", shortcuts.checked ? "on" : "off")
  $("#keys").onclick = () => {
    help.showModal()
    $("button", help).focus()
  }
  const click = e => e ? e.click() : false
  const focus = e => e ? e.focus() : false
  const move = by => {
    const all = rows(), row = all[Math.max(0, Math.min(all.indexOf(current()) + by, all.length - 1))]
    row && $("td.c-time a", row).focus()
    row?.scrollIntoView({ block: "nearest" })
  }
  const back = () => { // to the log as it was last seen
    const link = $("[data-key=u]")
    return link ? void (location = link.href + (sessionStorage["ttftap-log"] ?? "")) : false
  }
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => current() && move(1),
    ArrowUp: () => current() && move(-1),
    u: back,
    Escape: back,
    x: () => current() && pick(current(), !$(".pick", current()).checked),
    y: () => {
      const ids = current() ? [current().dataset.id] : $$("[data-copy]").map(b => b.dataset.copy)
      if (ids.length) copy(ids.join("\n"))
    },
    f: () => {
      const all = $$("[data-part=bounds] a")
      return click(all[(all.findIndex(a => a.ariaCurrent) + 1) % all.length])
    },
    "/": () => focus($("input[name=q]")),
  }
  let went = -Infinity // when g was pressed
  document.addEventListener("keydown", e => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || !shortcuts.checked || help.open) return
    if (e.target.closest("input:not([type=checkbox]), select, textarea")) return e.key === "Escape" && e.target.blur()
    const isSecond = e.timeStamp - went < 1500
    went = e.key === "g" && !isSecond ? e.timeStamp : -Infinity
    if (e.key === "g") return
    const done = isSecond ? click($(`[data-go="${CSS.escape(e.key)}"]`))
      : Object.hasOwn(keys, e.key) ? keys[e.key]()
        : click($$(`[data-key="${CSS.escape(e.key)}"]`).find(b => !b.hidden))
    if (done === undefined) e.preventDefault()
  })
})()
