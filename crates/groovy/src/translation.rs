//! What is asked for and what comes of it: a language, a translation, a mistake.

/// In which language a script of a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Groovy, of JSR223 elements and `__groovy`.
    Groovy,
    /// BeanShell, which is Java without types; Java itself is read so, too.
    BeanShell,
    /// JavaScript as Rhino and Nashorn know it.
    JavaScript,
    /// Expressions of `__jexl2` and `__jexl3`.
    Jexl,
}

/// What becomes of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Translation {
    /// The body of a JavaScript function: it may `return` a value; its last expression's value is returned where Groovy would return it.
    pub javascript: String,
    /// Names of variables that it reads by a fixed name (`vars.get("x")`, `vars["x"]`, `vars.x`, `${x}`), each once.
    pub reads: Vec<String>,
    /// Names of variables that it sets by a fixed name (`vars.put("x", …)`, `vars.x = …`), each once.
    pub sets: Vec<String>,
    /// Whether it reads or sets variables whose names are computed.
    pub names_are_computed: bool,
    /// Whether it uses anything of the last answer (`prev`, `SampleResult`, `data`, `ctx.getPreviousResult()`).
    pub reads_answer: bool,
    /// The line that first asks for what the next request is made of, or changes it (`sampler.addArgument(…)`).
    pub request: Option<usize>,
    /// Whether it looks at that request, and does not only set parts of it.
    pub reads_request: bool,
    /// Whether it gives that request another path.
    pub sets_path: bool,
    /// Files it reads by a fixed name (`new File("x").text`), each once.
    pub files: Vec<String>,
}

/// Something in a script that has no equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// What it is in a few plain words with the code: "`sampler.setDomain`: a request goes where …".
    pub message: String,
}
