//! A script as a tree: what the parser makes and the printer reads.
//!
//! Rows of operators and of `.a.b()` stand flat in a list and not one inside the other, so that the tree is only as deep as the text is
//! nested: a long sum needs no deep stack, neither here nor in the JavaScript.

/// What a literal text is made of.
#[derive(Debug)]
pub(crate) enum Part {
    /// Letters as they stand.
    Text(String),
    /// `${…}` or `$a.b` of a text in double quotes.
    Code(Expression),
    /// What JMeter puts in before any language sees the script: `${name}`, `${__name(…)}`; without the braces.
    Reference(String),
}

/// A type as it was written, without its type parameters.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub name: String,
    pub is_array: bool,
}

#[derive(Debug)]
pub(crate) struct Expression {
    pub line: usize,
    pub kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Null,
    Boolean(bool),
    /// As JavaScript writes it.
    Number {
        text: String,
        decimal: bool,
    },
    Text(Vec<Part>),
    /// Of Java: `'a'`.
    Letter(String),
    Reference(String),
    Name(String),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    /// `*list` among the elements of a list or the arguments of a call.
    Spread(Box<Expression>),
    Closure(Vec<Parameter>, Vec<Statement>, bool),
    Unary(&'static str, Box<Expression>),
    /// `++x`, `x--`: the sign, and whether it stands before.
    Step(&'static str, bool, Box<Expression>),
    /// Operators of one rank, from the left.
    Row(Box<Expression>, Vec<(&'static str, Expression)>),
    Power(Box<Expression>, Box<Expression>),
    InstanceOf(Box<Expression>, Type, bool),
    /// Whether it is written `as`: `"5" as int` reads the text, `(int) "5"` takes its letter.
    Cast(Type, Box<Expression>, bool),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    Elvis(Box<Expression>, Box<Expression>),
    Range(Box<Expression>, Box<Expression>, bool),
    /// The operator is empty for `=`.
    Assign(Box<Expression>, &'static str, Box<Expression>),
    AssignMany(Vec<String>, Box<Expression>),
    Path(Box<Expression>, Vec<Suffix>),
    /// With the package, where it is written.
    New(Type, Vec<Expression>),
    NewArray(Type, Vec<Expression>),
}

#[derive(Debug)]
pub(crate) struct Suffix {
    pub line: usize,
    pub kind: SuffixKind,
    /// `?.`: null stays null.
    pub safe: bool,
    /// `*.`: of each.
    pub spread: bool,
}

#[derive(Debug)]
pub(crate) enum SuffixKind {
    Property(String),
    /// `."${name}"`
    Computed(Box<Expression>),
    Method(String, Vec<Expression>),
    Index(Vec<Expression>),
    Call(Vec<Expression>),
    /// `::name`, `.&name`
    Pointer(String),
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub kind: Option<Type>,
    pub default: Option<Expression>,
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub line: usize,
    pub kind: StatementKind,
}

#[derive(Debug)]
pub(crate) struct Catch {
    /// Empty: of any kind.
    pub kinds: Vec<String>,
    pub name: String,
    pub body: Vec<Statement>,
}

#[derive(Debug)]
pub(crate) enum StatementKind {
    Nothing,
    Expression(Expression),
    Declare(Option<Type>, Vec<(String, Option<Expression>)>),
    DeclareMany(Vec<String>, Expression),
    Block(Vec<Statement>),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    DoWhile(Box<Statement>, Expression),
    For(Vec<Statement>, Option<Expression>, Vec<Expression>, Box<Statement>),
    ForEach(String, Expression, Box<Statement>),
    /// Cases; `None` is the default.
    Switch(Expression, Vec<(Option<Expression>, Vec<Statement>)>),
    Try(Vec<Statement>, Vec<Catch>, Option<Vec<Statement>>),
    Throw(Expression),
    Return(Option<Expression>),
    Break(Option<String>),
    Continue(Option<String>),
    Label(String, Box<Statement>),
    Function(String, Vec<Parameter>, Vec<Statement>),
    Assert(Expression, Option<Expression>),
}
