//! Scripts as people write them into plans, translated and carried out by QuickJS: from variables and an answer before to what is there after.

mod answers;
mod expressions;
mod functions;
mod hostile;
mod lists;
mod refused;
mod requests;
mod runtime;
mod statements;
mod tables;
mod texts;
mod times;
mod values;
mod whole;
