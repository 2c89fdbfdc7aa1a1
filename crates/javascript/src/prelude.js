// What scripts find: `host` for those that were translated from other languages, and few plain names for people's own.
(function (native) {
  "use strict";
  const text = (value) => (value === null || value === undefined ? undefined : String(value));
  const isBytes = (value) => value instanceof Uint8Array;

  const host = {
    get: (name) => native.get(String(name)),
    put: (name, value) => native.put(String(name), text(value)),
    remove: (name) => native.put(String(name), undefined),
    names: () => native.names(),
    getProperty: (name) => native.property(String(name)),
    setProperty: (name, value) => native.setProperty(String(name), text(value)),
    log: (level, message) => native.log(String(level), String(message)),
    answer: (what) => native.answer(String(what)),
    fail: (message) => native.act("fail", text(message), undefined),
    succeed: () => native.act("succeed", undefined, undefined),
    setAnswer: (what, value) => native.act("setAnswer", String(what), isBytes(value) ? native.text(value) : String(value)),
    request: (what) => native.request(String(what)),
    setRequest: (what, value) => native.act("setRequest", String(what), isBytes(value) ? native.text(value) : String(value)),
    setHeader: (name, value) => native.act("setHeader", String(name), text(value)),
    addField: (name, value) => native.act("addField", String(name), String(value)),
    ignore: () => native.act("ignore", undefined, undefined),
    stopUser: () => native.act("stopUser", undefined, undefined),
    stopTest: () => native.act("stopTest", undefined, undefined),
    nextIteration: () => native.act("nextIteration", undefined, undefined),
    now: () => native.now(),
    random: () => native.random(),
    digest: (algorithm, bytes) => native.digest(String(algorithm), bytes),
    hmac: (algorithm, key, bytes) => native.hmac(String(algorithm), key, bytes),
    threadNumber: () => native.about("threadNumber"),
    threadName: () => native.about("threadName"),
    groupName: () => native.about("groupName"),
    iteration: () => native.about("iteration"),
    label: () => native.about("label"),
    parameters: () => native.about("parameters"),
    file: (name) => {
      const bytes = native.file(String(name));
      return bytes === null ? null : native.text(bytes);
    },
    get objects() {
      return native.objects();
    },
  };

  class Failure extends Error {
    get name() {
      return "Failure";
    }
  }
  const fail = (message) => {
    throw new Failure(message === undefined ? "it failed" : String(message));
  };
  const said = (what) => {
    const value = native.answer(what);
    return value === null ? fail("there is no answer here: write the script under 'after' of a step") : value;
  };
  const wanted = (what) => {
    const value = native.request(what);
    return value === null ? fail("there is no request here: write the script under 'before' of a step") : value;
  };
  const header = (lines, name) => {
    const begin = String(name).toLowerCase() + ":";
    const line = lines.split(/\r?\n/).find((line) => line.toLowerCase().startsWith(begin));
    return line === undefined ? null : line.slice(begin.length).trim();
  };
  const encoded = (bytes, form) => (form === "bytes" ? bytes : native.encode(form === undefined ? "hex" : String(form), bytes));
  const frozen = (names) => Object.freeze(Object.assign(Object.create(null), names));

  const answer = Object.freeze({
    get status() {
      return Number(said("code"));
    },
    get body() {
      return said("body");
    },
    get time() {
      return said("time");
    },
    header: (name) => header(said("headers"), name),
  });
  const request = Object.freeze({
    get method() {
      return wanted("method");
    },
    set method(value) {
      host.setRequest("method", value);
    },
    get path() {
      return wanted("path");
    },
    set path(value) {
      host.setRequest("path", value);
    },
    get body() {
      return wanted("body");
    },
    set body(value) {
      host.setRequest("body", value);
    },
    header: (name) => header(wanted("headers"), name),
    setHeader: host.setHeader,
  });

  const NativeDate = Date;
  class HostDate extends NativeDate {
    constructor(...given) {
      if (given.length > 0) super(...given);
      else super(native.now());
    }
    static now() {
      return native.now();
    }
  }
  Object.defineProperty(HostDate, "name", { value: "Date" });

  Object.assign(globalThis, {
    Date: HostDate,
    host: Object.freeze(host),
    vars: frozen({ get: host.get, set: host.put, names: host.names }),
    answer,
    request,
    fail,
    log: (...values) => host.log("info", values.map(String).join(" ")),
    crypto: frozen({
      digest: (algorithm, value, form) => encoded(native.digest(String(algorithm), value), form),
      hmac: (algorithm, key, value, form) => encoded(native.hmac(String(algorithm), key, value), form),
      encode: (form, value) => encoded(native.utf8(value), form),
    }),
    file: (name) => {
      const found = host.file(name);
      return found === null ? fail(`the file '${name}' was not named beside the script, under files`) : found;
    },
  });
  Object.defineProperty(globalThis, "objects", { get: native.objects });
  Math.random = native.random;
  delete globalThis.performance;

  // Called when all names are there: what one user would add to them, others would see.
  return () => {
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (name === "objects") continue;
      const value = globalThis[name];
      if (typeof value !== "function" && typeof value !== "object" || value === null || value === globalThis) continue;
      if (value.prototype) Object.preventExtensions(value.prototype);
      Object.preventExtensions(value);
    }
    Object.freeze(globalThis);
  };
})
