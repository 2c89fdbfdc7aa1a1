//! `.proto` files to descriptors.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use crate::Mistake;

/// The descriptors of these files and of all that they import, as a `FileDescriptorSet`. Imports begin in one of the folders, where the files
/// are, or here. `read` gives what a file holds, or why it cannot be read.
///
/// # Errors
/// If a file is missing or wrong, with its line.
pub fn compile(
    protos: &[String],
    folders: &[String],
    read: impl Fn(&str) -> Result<Vec<u8>, String> + 'static,
) -> Result<Vec<u8>, Vec<Mistake>> {
    let given: Vec<&str> = folders.iter().map(|folder| folder.trim_end_matches('/')).collect();
    // Beside each file, and then the folder that we are in.
    let beside = protos.iter().map(|proto| proto.rsplit_once('/').map_or("", |(folder, _)| folder));
    let mut places: Vec<String> = Vec::new();
    for folder in given.iter().copied().chain(beside).chain([""]) {
        if !places.iter().any(|known| known == folder) {
            places.push(folder.to_owned());
        }
    }
    let files = Files { places, read, opened: Rc::default() };
    let opened = files.opened.clone();
    let names: Vec<String> = protos.iter().map(|proto| files.name_of(proto)).collect();
    let mut resolver = ChainFileResolver::new();
    resolver.add(files);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    let mut wrong: Vec<Mistake> = Vec::new();
    for (proto, name) in protos.iter().zip(&names) {
        if let Err(why) = compiler.open_file(name) {
            let mistake = told(proto, name, &why, &opened.borrow());
            if !wrong.contains(&mistake) {
                wrong.push(mistake);
            }
        }
    }
    if wrong.is_empty() { Ok(compiler.encode_file_descriptor_set()) } else { Err(wrong) }
}

/// In words, files by the paths that they were read from.
fn told(proto: &str, name: &str, why: &protox::Error, opened: &BTreeMap<String, String>) -> Mistake {
    if why.is_file_not_found() && why.file().is_none_or(|file| file == name) && !opened.contains_key(name) {
        return Mistake::new(format!("the file '{proto}' cannot be read: there is no such file"), "check the path");
    }
    let words = format!("{why:?}");
    let shown = match why.file().and_then(|file| Some((file, opened.get(file)?))) {
        Some((file, path)) => words.strip_prefix(file).map_or(words.clone(), |rest| format!("{path}{rest}")),
        None => words,
    };
    if why.is_file_not_found() {
        return Mistake::new(shown, "name the folder in which it begins with -I");
    }
    Mistake::new(shown, "put it right: protoc would not take it either")
}

struct Files<R> {
    /// Where imports begin.
    places: Vec<String>,
    read: R,
    /// Files by their names, and where each was found.
    opened: Rc<RefCell<BTreeMap<String, String>>>,
}

impl<R> Files<R> {
    /// What a file is called by those that import it.
    fn name_of(&self, proto: &str) -> String {
        let below = |folder: &String| proto.strip_prefix(folder.as_str())?.strip_prefix('/');
        self.places.iter().filter(|folder| !folder.is_empty()).find_map(below).unwrap_or(proto).to_owned()
    }
}

impl<R: Fn(&str) -> Result<Vec<u8>, String>> FileResolver for Files<R> {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        for folder in &self.places {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let Ok(bytes) = (self.read)(&path) else { continue };
            self.opened.borrow_mut().insert(name.to_owned(), path.clone());
            let text = String::from_utf8(bytes).map_err(|_| protox::Error::new(format!("the file '{path}' is not text in UTF-8")))?;
            return File::from_source(name, text.trim_start_matches('\u{feff}'));
        }
        Err(protox::Error::file_not_found(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(protos: &[&str], folders: &[&str], files: &[(&str, &str)]) -> Result<usize, Vec<String>> {
        let files: BTreeMap<String, String> = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let read = move |path: &str| files.get(path).map(|text| text.clone().into_bytes()).ok_or_else(|| "none".to_owned());
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let told = |wrong: Vec<Mistake>| wrong.into_iter().map(|mistake| format!("{mistake} | {}", mistake.help)).collect();
        compile(&owned(protos), &owned(folders), read).map(|set| set.len()).map_err(told)
    }

    const ONE: &str = "syntax = \"proto3\";\nimport \"b/two.proto\";\nmessage One { b.Two two = 1; }\n";
    const TWO: &str = "syntax = \"proto3\";\npackage b;\nmessage Two {}\n";

    #[test]
    fn imports_are_found_beside_a_file_or_in_a_folder() {
        let whole = compiled(&["p/one.proto"], &[], &[("p/one.proto", ONE), ("p/b/two.proto", TWO)]).unwrap();
        assert_eq!(compiled(&["p/one.proto"], &["inc/"], &[("p/one.proto", ONE), ("inc/b/two.proto", TWO)]), Ok(whole));
        assert!(compiled(&["p/b/two.proto", "p/one.proto"], &["p"], &[("p/one.proto", ONE), ("p/b/two.proto", TWO)]).is_ok());
        assert!(compiled(&["one.proto"], &[], &[("one.proto", "import \"google/protobuf/empty.proto\";")]).is_ok());
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
        let first = |protos: &[&str], files: &[(&str, &str)]| compiled(protos, &[], files).unwrap_err().remove(0);
        let told = first(&["p/a.proto"], &[("p/a.proto", "syntax = \"proto3\";\nmessage A {\n  strin name = 1;\n}\n")]);
        assert!(told.starts_with("p/a.proto:3:3: name 'strin' is not defined"), "{told}");
        let told = first(&["a.proto"], &[("a.proto", "syntax = \"proto3\";\nmessage {}\n")]);
        assert!(told.starts_with("a.proto:2:9: "), "{told}");
        let told = first(&["p/one.proto"], &[("p/one.proto", ONE)]);
        assert!(told.starts_with("p/one.proto:2:") && told.contains("import 'b/two.proto' not found | name the folder"), "{told}");
        let told = first(&["none.proto"], &[]);
        assert!(told.starts_with("the file 'none.proto' cannot be read"), "{told}");
        let several = compiled(&["none.proto", "a.proto"], &[], &[("a.proto", "x")]).unwrap_err();
        assert_eq!(several.len(), 2, "{several:?}");
    }
}
