// Maps: what Java and Groovy call on them, and their entries.

class $Entry {
  constructor(map, key, value) { this.map = map; this.key = key; this.value = value; }
  getKey() { return this.key; }
  getValue() { return this.value; }
  setValue(value) { const old = this.value; this.value = value; if (this.map) this.map.set(this.key, value); return old; }
  equals(other) { return other instanceof $Entry && $eq(this.key, other.key) && $eq(this.value, other.value); }
  toString() { return $text(this.key) + "=" + $text(this.value); }
}

function $entries(map) { return [...map].map(([key, value]) => new $Entry(map, key, value)); }

// A closure of an entry, or of its key and value.
function $doEntry(closure, map, key, value) {
  return $null(closure.length >= 2 ? closure(key, value) : closure(new $Entry(map, key, value)));
}

function $filtered(map, closure, wanted) { return new Map([...map].filter(([key, value]) => $truth($doEntry(closure, map, key, value)) === wanted)); }

// Under another kind of the same key: 1 and "1" are two keys, a text and a letter are one.
function $keyOf(map, key) {
  if (map.has(key) || key === null || typeof key !== "object") return key;
  for (const other of map.keys()) if ($eq(other, key)) return other;
  return key;
}

const $MAP = {
  __proto__: null,
  get: (self, key, otherwise) => {
    key = $keyOf(self, key);
    if (otherwise !== undefined && !self.has(key)) self.set(key, otherwise);
    return $null(self.get(key));
  },
  getAt: (self, key) => $null(self.get($keyOf(self, key))), put: (self, key, value) => { key = $keyOf(self, key); const old = $null(self.get(key)); self.set(key, value); return old; },
  putAt: (self, key, value) => { self.set(key, value); return value; }, putAll: (self, other) => { for (const [key, value] of other) self.set(key, value); return null; },
  putIfAbsent: (self, key, value) => { if (self.has(key)) return self.get(key); self.set(key, value); return null; },
  computeIfAbsent: (self, key, closure) => { if (!self.has(key)) self.set(key, $do(closure, key)); return self.get(key); },
  computeIfPresent: (self, key, closure) => { if (!self.has(key)) return null; self.set(key, $null(closure(key, self.get(key)))); return self.get(key); },
  compute: (self, key, closure) => { self.set(key, $null(closure(key, $null(self.get(key))))); return self.get(key); },
  merge: (self, key, value, closure) => { self.set(key, self.has(key) ? $null(closure(self.get(key), value)) : value); return self.get(key); },
  getOrDefault: (self, key, otherwise) => self.has(key) ? self.get(key) : otherwise, containsKey: (self, key) => self.has($keyOf(self, key)), has: (self, key) => self.has(key), contains: (self, key) => self.has(key),
  containsValue: (self, value) => [...self.values()].some((other) => $eq(other, value)), remove: (self, key) => { const old = $null(self.get(key)); self.delete(key); return old; }, clear: (self) => { self.clear(); return null; },
  size: (self) => self.size, length: (self) => self.size, isEmpty: (self) => self.size === 0, keySet: (self) => new Set(self.keys()), keys: (self) => new $Iterator(self.keys()), values: (self) => [...self.values()], entrySet: (self) => $entries(self),
  each: (self, closure) => { for (const [key, value] of [...self]) $doEntry(closure, self, key, value); return self; }, forEach: (self, closure) => { for (const [key, value] of [...self]) $doEntry(closure, self, key, value); return null; },
  eachWithIndex: (self, closure) => { [...self].forEach(([key, value], at) => $null(closure.length >= 3 ? closure(key, value, at) : closure(new $Entry(self, key, value), at))); return self; },
  collect: (self, closure) => [...self].map(([key, value]) => $doEntry(closure, self, key, value)), collectEntries: (self, closure) => $READ.collectEntries([...self].map(([key, value]) => $doEntry(closure, self, key, value))), collectMany: (self, closure) => [...self].flatMap(([key, value]) => [...$list($doEntry(closure, self, key, value))]),
  find: (self, closure) => { for (const [key, value] of self) if ($truth($doEntry(closure, self, key, value))) return new $Entry(self, key, value); return null; }, findAll: (self, closure) => $filtered(self, closure, true), findResult: (self, closure) => { for (const [key, value] of self) { const found = $doEntry(closure, self, key, value); if (found !== null) return found; } return null; },
  any: (self, closure) => [...self].some(([key, value]) => $truth($doEntry(closure, self, key, value))), every: (self, closure) => [...self].every(([key, value]) => $truth($doEntry(closure, self, key, value))), count: (self, closure) => $filtered(self, closure, true).size,
  inject: (self, first, closure) => [...self].reduce((sum, [key, value]) => $null(closure.length >= 3 ? closure(sum, key, value) : closure(sum, new $Entry(self, key, value))), first), sum: (self, closure) => $READ.sum([...self].map(([key, value]) => $doEntry(closure, self, key, value))),
  groupBy: (self, closure) => { const groups = new Map(); for (const [key, value] of self) { const group = $doEntry(closure, self, key, value); if (!groups.has(group)) groups.set(group, new Map()); groups.get(group).set(key, value); } return groups; },
  sort: (self, closure) => new Map(closure === undefined ? [...self].sort(([a], [b]) => $cmp(a, b)) : $entries(self).sort($order(closure)).map((entry) => [entry.key, entry.value])), toSorted: (self, closure) => $MAP.sort(self, closure),
  max: (self, closure) => $most($entries(self), closure, 1), min: (self, closure) => $most($entries(self), closure, -1), join: (self, by) => $entries(self).map($text).join($text(by)), subMap: (self, keys) => new Map([...$list(keys)].map((key) => [key, $null(self.get(key))])), removeAll: (self, closure) => { for (const key of $filtered(self, closure, true).keys()) self.delete(key); return true; }, retainAll: (self, closure) => { for (const key of $filtered(self, closure, false).keys()) self.delete(key); return true; },
  plus: (self, other) => $plus(self, other), minus: (self, other) => new Map([...self].filter(([key, value]) => !(other.has(key) && $eq(other.get(key), value)))), leftShift: (self, other) => $shl(self, other), withDefault: (self, closure) => new $Default(self, closure), asImmutable: (self) => new Map(self), clone: (self) => new Map(self), toMapString: (self) => $text(self), take: (self, count) => new Map([...self].slice(0, Number(count))), drop: (self, count) => new Map([...self].slice(Number(count))), intersect: (self, other) => new Map([...self].filter(([key, value]) => other.has(key) && $eq(other.get(key), value))), iterator: (self) => new $Iterator($entries(self), self), equals: (self, other) => $eq(self, other), hashCode: (self) => $hash($text(self)), toString: (self) => $text(self), getProperty: (self, name, otherwise) => self.has(name) ? self.get(name) : $null(otherwise), setProperty: (self, name, value) => { self.set(name, value); return null; }, firstKey: (self) => [...self.keys()].sort($cmp)[0], lastKey: (self) => [...self.keys()].sort($cmp).pop(),
  // Of org.json.
  optString: (self, key, otherwise = "") => self.has(key) ? $text(self.get(key)) : otherwise, opt: (self, key) => $null(self.get(key)), optInt: (self, key, otherwise = 0) => self.has(key) ? Number(self.get(key)) : otherwise,
};

class $Default extends Map {
  constructor(map, closure) { super(map); this.closure = closure; }
  get(key) { if (!super.has(key)) super.set(key, $do(this.closure, key)); return super.get(key); }
}
