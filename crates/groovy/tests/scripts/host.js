// A host as loadline is one, with its state in the open.
globalThis.host = (() => {
  const state = { vars: {}, props: {}, log: [], failure: undefined, answer: {}, ended: [], label: "home", parameters: "", files: {}, now: 1700000000123, random: 1 };
  const host = {
    state,
    objects: {},
    get: (name) => Object.hasOwn(state.vars, name) ? state.vars[name] : null,
    put: (name, text) => { if (typeof text !== "string") throw new Error(`put of ${typeof text}`); state.vars[name] = text; },
    remove: (name) => { delete state.vars[name]; },
    names: () => Object.keys(state.vars),
    getProperty: (name) => Object.hasOwn(state.props, name) ? state.props[name] : null,
    setProperty: (name, text) => { if (text === null) delete state.props[name]; else state.props[name] = text; },
    log: (level, text) => { state.log.push(`${level}: ${text}`); },
    answer: (what) => what in state.answer ? state.answer[what] : null,
    fail: (message) => { state.failure = message === null ? "" : message; },
    request: (what) => state.request === undefined ? null : what === "url" ? "http://host.example:8080" + state.request.path : state.request[what],
    setRequest: (what, text) => { state.log.push(`${what}: ${text}`); if (state.request !== undefined) state.request[what] = text; },
    setHeader: (name, text) => {
      state.log.push(`header ${name}: ${text}`);
      if (state.request === undefined) return;
      const lines = state.request.headers.split("\n").filter((line) => line !== "" && !line.toLowerCase().startsWith(name.toLowerCase() + ":"));
      state.request.headers = [...lines, ...(text === null ? [] : [`${name}: ${text}`])].map((line) => line + "\n").join("");
    },
    addField: (name, text) => { state.log.push(`field ${name}=${text}`); },
    succeed: () => { state.failure = null; },
    setAnswer: (what, text) => { state.answer[what] = text; },
    ignore: () => { state.ended.push("ignore"); },
    stopUser: () => { state.ended.push("user"); },
    stopTest: () => { state.ended.push("test"); },
    nextIteration: () => { state.ended.push("iteration"); },
    now: () => state.now,
    random: () => { state.random = (state.random * 48271) % 2147483647; return state.random / 2147483647; },
    digest: (algorithm, bytes) => Uint8Array.from($digestOfTest(algorithm, Array.from(bytes))),
    hmac: (algorithm, key, bytes) => Uint8Array.from($hmacOfTest(algorithm, Array.from(key), Array.from(bytes))),
    threadNumber: () => 3,
    threadName: () => "Users 1-3",
    groupName: () => "Users",
    iteration: () => 7,
    label: () => state.label,
    parameters: () => state.parameters,
    file: (name) => Object.hasOwn(state.files, name) ? state.files[name] : null,
  };
  return host;
})();
