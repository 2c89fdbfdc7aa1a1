// Lists, arrays and sets: what Java and Groovy call on them.

class $Iterator {
  constructor(list, owner) { this.list = [...list]; this.owner = owner; this.position = 0; }
  hasNext() { return this.position < this.list.length; }
  next() {
    if (!this.hasNext()) throw $error("NoSuchElementException", "no more elements");
    return $null(this.list[this.position++]);
  }
  nextElement() { return this.next(); }
  hasMoreElements() { return this.hasNext(); }
  remove() {
    const item = this.list[this.position - 1];
    if (Array.isArray(this.owner)) this.owner.splice(this.owner.indexOf(item), 1);
    else if (this.owner instanceof Map) this.owner.delete(item instanceof $Entry ? item.key : item);
    else if (this.owner) this.owner.delete(item);
    return null;
  }
  [Symbol.iterator]() { return this.list.slice(this.position)[Symbol.iterator](); }
}

// The order that a closure gives: of one value a key, of two an order.
function $order(closure) {
  if (closure === undefined || closure === null) return $cmp;
  if (typeof closure.compare === "function") return (a, b) => closure.compare(a, b);
  if (closure.length >= 2) return (a, b) => Number($null(closure(a, b)));
  return (a, b) => $cmp($null(closure(a)), $null(closure(b)));
}

function $position(list, item) { return list.findIndex((other) => $eq(other, item)); }

function $test(closure) { return closure === undefined ? $truth : typeof closure === "function" ? (item) => $truth($do(closure, item)) : (item) => $case(closure, item); }

function $distinct(list, closure) {
  const result = [];
  const seen = new Set();
  for (const item of list) {
    const key = closure === undefined ? item : $do(closure, item);
    const simple = key === null || typeof key !== "object";
    if (simple ? seen.has(key) : result.some((other) => $eq(closure === undefined ? other : $do(closure, other), key))) continue;
    if (simple) seen.add(key);
    result.push(item);
  }
  return result;
}

function $replaceAll(list, items) { list.length = 0; for (const item of items) list.push(item); return list; }

function $most(list, closure, sign) {
  const items = [...list].filter((item) => item !== null && item !== undefined);
  if (items.length === 0) return null;
  const order = $order(closure);
  return items.reduce((best, item) => order(item, best) * sign > 0 ? item : best);
}

function $inList(list, at) {
  const index = Number(at);
  if (!(index >= 0 && index < list.length)) throw $error("IndexOutOfBoundsException", `Index ${at} out of bounds for length ${list.length}`);
  return index;
}

// What only reads.
const $READ = {
  __proto__: null,
  size: (self) => self.length, length: (self) => self.length, isEmpty: (self) => self.length === 0, getLength: (self) => self.length,
  get: (self, at) => $null(self[$inList(self, at)]), getAt: (self, at) => $at(0, self, at), elementAt: (self, at) => self[$inList(self, at)],
  contains: (self, item) => $position(self, item) >= 0, containsAll: (self, items) => [...$list(items)].every((item) => $position(self, item) >= 0),
  indexOf: (self, item) => $position(self, item), lastIndexOf: (self, item) => self.findLastIndex((other) => $eq(other, item)),
  first: (self) => { if (self.length === 0) throw $error("NoSuchElementException", "Cannot access first() element from an empty List"); return self[0]; },
  last: (self) => { if (self.length === 0) throw $error("NoSuchElementException", "Cannot access last() element from an empty List"); return self[self.length - 1]; },
  getFirst: (self) => $READ.first(self), getLast: (self) => $READ.last(self), head: (self) => $READ.first(self), tail: (self) => self.slice(1), init: (self) => self.slice(0, -1),
  firstElement: (self) => $READ.first(self), lastElement: (self) => $READ.last(self),
  each: (self, closure) => { for (const item of [...self]) $do(closure, item); return self; }, forEach: (self, closure) => { for (const item of [...self]) $do(closure, item); return null; },
  eachWithIndex: (self, closure) => { [...self].forEach((item, at) => $null(closure(item, at))); return self; },
  reverseEach: (self, closure) => { for (const item of [...self].reverse()) $do(closure, item); return self; },
  collect: (self, first, closure) => {
    if (closure !== undefined) { for (const item of self) $shl(first, $do(closure, item)); return first; }
    return self.map((item) => first === undefined ? item : $do(first, item));
  },
  collectMany: (self, closure) => self.flatMap((item) => [...$list($do(closure, item))]),
  collectEntries: (self, closure) => {
    const map = new Map();
    for (const item of self) {
      const made = closure === undefined ? item : $do(closure, item);
      if (made instanceof Map) for (const [key, value] of made) map.set(key, value);
      else if (made instanceof $Entry) map.set(made.key, made.value);
      else map.set(made[0], $null(made[1]));
    }
    return map;
  },
  collectNested: (self, closure) => self.map((item) => Array.isArray(item) ? $READ.collectNested(item, closure) : $do(closure, item)),
  withIndex: (self, from = 0) => self.map((item, at) => [item, at + Number(from)]), indexed: (self, from = 0) => new Map(self.map((item, at) => [at + Number(from), item])),
  find: (self, closure) => $null(self.find($test(closure))), findAll: (self, closure) => self.filter($test(closure)), findResult: (self, closure) => {
    for (const item of self) { const found = $do(closure, item); if (found !== null) return found; }
    return null;
  },
  findResults: (self, closure) => self.map((item) => $do(closure, item)).filter((item) => item !== null), grep: (self, wanted) => self.filter((item) => wanted === undefined ? $truth(item) : $case(wanted, item)),
  findIndexOf: (self, closure) => self.findIndex($test(closure)), findLastIndexOf: (self, closure) => self.findLastIndex($test(closure)),
  findIndexValues: (self, closure) => self.map((item, at) => $test(closure)(item) ? at : -1).filter((at) => at >= 0),
  any: (self, closure) => self.some($test(closure)), every: (self, closure) => self.every($test(closure)), split: (self, closure) => [self.filter($test(closure)), self.filter((item) => !$test(closure)(item))],
  count: (self, wanted) => self.filter((item) => typeof wanted === "function" ? $truth($do(wanted, item)) : wanted === undefined || $eq(item, wanted)).length,
  join: (self, by = "") => self.map($text).join(by === null ? "" : $text(by)), sum: (self, first, closure) => {
    const [begin, made] = typeof first === "function" ? [undefined, first] : [first, closure];
    const values = made === undefined ? self : self.map((item) => $do(made, item));
    return values.reduce((sum, item) => sum === undefined ? item : $plus(sum, item), begin) ?? null;
  },
  average: (self, closure) => $div($READ.sum(self, closure), self.length),
  min: (self, closure) => $most(self, closure, -1), max: (self, closure) => $most(self, closure, 1),
  inject: (self, first, closure) => closure === undefined ? self.slice(1).reduce((value, item) => $null(first(value, item)), self[0]) : self.reduce((value, item) => $null(closure(value, item)), first),
  groupBy: (self, closure) => {
    const map = new Map();
    for (const item of self) { const key = $do(closure, item); if (map.has(key)) map.get(key).push(item); else map.set(key, [item]); }
    return map;
  },
  countBy: (self, closure) => { const map = new Map(); for (const item of self) { const key = $do(closure, item); map.set(key, (map.get(key) || 0) + 1); } return map; },
  flatten: (self) => self.flatMap((item) => Array.isArray(item) || item instanceof Set ? $READ.flatten([...item]) : [item]),
  toList: (self) => [...self], toSet: (self) => new Set(self), asList: (self) => self, asImmutable: (self) => Object.freeze([...self]), asUnmodifiable: (self) => Object.freeze([...self]), toArray: (self) => [...self], clone: (self) => [...self],
  plus: (self, other) => $plus(self, other), minus: (self, other) => $sub(self, other), multiply: (self, times) => $mul(self, times),
  intersect: (self, other) => self.filter((item) => [...$list(other)].some((one) => $eq(one, item))), disjoint: (self, other) => !self.some((item) => [...$list(other)].some((one) => $eq(one, item))),
  take: (self, count) => self.slice(0, Math.max(0, Number(count))), drop: (self, count) => self.slice(Math.max(0, Number(count))), takeRight: (self, count) => Number(count) <= 0 ? [] : self.slice(-Number(count)), dropRight: (self, count) => self.slice(0, Math.max(0, self.length - Number(count))),
  takeWhile: (self, closure) => { let end = 0; while (end < self.length && $test(closure)(self[end])) end++; return self.slice(0, end); },
  dropWhile: (self, closure) => { let from = 0; while (from < self.length && $test(closure)(self[from])) from++; return self.slice(from); },
  subList: (self, from, to) => { if (from < 0 || to > self.length || from > to) throw $error("IndexOutOfBoundsException", `from ${from} to ${to} of ${self.length}`); return self.slice(Number(from), Number(to)); },
  collate: (self, size) => { const parts = []; for (let at = 0; at < self.length; at += Number(size)) parts.push(self.slice(at, at + Number(size))); return parts; },
  transpose: (self) => self.length === 0 ? [] : self[0].map((_, at) => self.map((row) => row[at])), combinations: (self) => self.reduce((all, part) => [...$list(part)].flatMap((item) => all.map((one) => [...one, item])), [[]]),
  permutations: (self) => self.length <= 1 ? [[...self]] : self.flatMap((item, at) => $READ.permutations([...self.slice(0, at), ...self.slice(at + 1)]).map((rest) => [item, ...rest])),
  iterator: (self) => new $Iterator(self, self), listIterator: (self) => new $Iterator(self, self), elements: (self) => new $Iterator(self), stream: (self) => self, parallelStream: (self) => self, map: (self, closure) => self.map((item) => $do(closure, item)), filter: (self, closure) => self.filter($test(closure)),
  anyMatch: (self, closure) => self.some($test(closure)), allMatch: (self, closure) => self.every($test(closure)), toSorted: (self, closure) => [...self].sort($order(closure)), toUnique: (self, closure) => $distinct(self, closure),
  shuffled: (self) => $shuffle([...self]), getIndices: (self) => self.map((_, at) => at), equals: (self, other) => $eq(self, other), hashCode: (self) => $hash(self), toString: (self) => $text(self), asType: (self) => self, toSpreadMap: (self) => self, distinct: (self) => $distinct(self), getFrom: (self) => self[0], getTo: (self) => self[self.length - 1],
  containsWithinBounds: (self, value) => value >= Math.min(self[0], self[self.length - 1]) && value <= Math.max(self[0], self[self.length - 1]), encodeHex: (self) => $hexed($as(self, "byte[]")), step: (self, by, closure) => { const items = self.filter((_, at) => at % Number(by) === 0); if (closure) items.forEach((item) => $do(closure, item)); return items; },
};

const $LIST = {
  __proto__: null,
  ...$READ,
  add: (self, at, item) => { if (item === undefined) self.push(at); else self.splice(Number(at), 0, item); return true; },
  addAll: (self, at, items) => { if (items === undefined) self.push(...$list(at)); else self.splice(Number(at), 0, ...$list(items)); return true; },
  addFirst: (self, item) => { self.unshift(item); return null; }, addLast: (self, item) => { self.push(item); return null; }, offer: (self, item) => { self.push(item); return true; },
  push: (self, item) => { self.push(item); return true; }, pop: (self) => self.length === 0 ? null : self.pop(), poll: (self) => self.length === 0 ? null : self.shift(), peek: (self) => $null(self[0]), leftShift: (self, item) => $shl(self, item),
  removeFirst: (self) => $null(self.shift()), removeLast: (self) => $null(self.pop()),
  set: (self, at, item) => { const old = self[$inList(self, at)]; self[Number(at)] = item; return old; }, putAt: (self, at, item) => $putAt(0, self, at, item),
  remove: (self, what) => {
    if (typeof what === "number") return self.splice($inList(self, what), 1)[0];
    const at = $position(self, what);
    if (at >= 0) self.splice(at, 1);
    return at >= 0;
  },
  removeAt: (self, at) => self.splice($inList(self, at), 1)[0], removeElement: (self, item) => { const at = $position(self, item); if (at >= 0) self.splice(at, 1); return at >= 0; },
  removeAll: (self, what) => { const before = self.length; $replaceAll(self, self.filter((item) => !(typeof what === "function" ? $truth($do(what, item)) : [...$list(what)].some((other) => $eq(other, item))))); return self.length !== before; },
  removeIf: (self, closure) => $LIST.removeAll(self, closure), retainAll: (self, what) => { const before = self.length; $replaceAll(self, self.filter((item) => typeof what === "function" ? $truth($do(what, item)) : [...$list(what)].some((other) => $eq(other, item)))); return self.length !== before; },
  clear: (self) => { self.length = 0; return null; }, sort: (self, first, second) => first === false || first === true ? (first ? self : [...self]).sort($order(second)) : self.sort($order(first)),
  unique: (self, first, second) => first === false ? $distinct(self, second) : $replaceAll(self, $distinct(self, first === true ? second : first)),
  reverse: (self, change) => change === true ? self.reverse() : [...self].reverse(), swap: (self, a, b) => { [self[a], self[b]] = [self[b], self[a]]; return self; }, shuffle: (self) => $shuffle(self), replaceAll: (self, closure) => { $replaceAll(self, self.map((item) => $do(closure, item))); return null; },
  getProperty: (self, name) => $get(0, self, name),
};

const $OF_LIST = (name) => (self, ...values) => { const result = $READ[name]([...self], ...values); return name === "each" || name === "eachWithIndex" ? self : result; };

const $SET = { __proto__: null };
for (const name of Object.keys($READ)) $SET[name] = $OF_LIST(name);
Object.assign($SET, {
  add: (self, item) => { if ([...self].some((other) => typeof item === "object" && $eq(other, item))) return false; const before = self.size; self.add(item); return self.size !== before; },
  addAll: (self, items) => { const before = self.size; for (const item of $list(items)) self.add(item); return self.size !== before; }, leftShift: (self, item) => $shl(self, item),
  remove: (self, item) => self.delete(item), removeAll: (self, items) => { let any = false; for (const item of [...$list(items)]) any = self.delete(item) || any; return any; }, clear: (self) => { self.clear(); return null; }, size: (self) => self.size, isEmpty: (self) => self.size === 0,
  contains: (self, item) => self.has(item) || [...self].some((other) => $eq(other, item)), retainAll: (self, items) => { const kept = [...$list(items)]; for (const item of [...self]) if ($position(kept, item) < 0) self.delete(item); return true; }, clone: (self) => new Set(self), toSet: (self) => self, removeIf: (self, closure) => { for (const item of [...self]) if ($truth($do(closure, item))) self.delete(item); return true; },
  sort: (self, closure) => [...self].sort($order(closure)), reverse: (self) => [...self].reverse(), unique: (self) => [...self], findAll: (self, closure) => new Set([...self].filter($test(closure))), hashCode: (self) => [...self].reduce((hash, item) => (hash + $hash(item)) | 0, 0), iterator: (self) => new $Iterator(self, self), plus: (self, other) => $plus(self, other), minus: (self, other) => $sub(self, other),
});

function $shuffle(list, random) {
  for (let at = list.length - 1; at > 0; at--) {
    const other = random && typeof random.nextInt === "function" ? random.nextInt(at + 1) : Math.floor(host.random() * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
  return list;
}
