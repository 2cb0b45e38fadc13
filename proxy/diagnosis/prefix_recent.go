package diagnosis

// recent is a map that forgets what was not put into it for long. By weight, it
// holds at least the latest that fit into the room, and never more than twice
// that, but for a single value that is larger by itself.
type recent[K comparable, V any] struct {
	young, old map[K]weighed[V]
	weight     int // of the young
}

type weighed[V any] struct {
	value  V
	weight int
}

// room is in boundaries of prompts, see Prefixes.
const room = 1 << 16

func (r *recent[K, V]) get(k K) (V, bool) {
	w, ok := r.young[k]
	if !ok {
		w, ok = r.old[k]
	}
	return w.value, ok
}

func (r *recent[K, V]) put(k K, v V, weight int) {
	if r.young == nil || r.weight+weight > room {
		r.old, r.young, r.weight = r.young, make(map[K]weighed[V]), 0
	}
	r.weight += weight - r.young[k].weight
	r.young[k] = weighed[V]{v, weight}
}
