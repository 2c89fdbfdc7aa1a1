//! Data sets, and functions that read files line by line.

use super::*;

fn data(settings: &[(&str, &str)]) -> String {
    element("CSVDataSet", "csv", settings, &[])
}

/// What is made of these elements of a group with a file `u.csv` that holds this: data files, what is done, where to, what is told.
fn made(elements: &[String], held: &str) -> (String, String, String, String) {
    of_groups(&[], &[group(&[], elements)], held)
}

fn of_groups(of_plan: &[String], groups: &[String], held: &str) -> (String, String, String, String) {
    let text = plan_of(&[], &[of_plan, groups].concat());
    let mut wishes = Wishes::default();
    for path in includes(&text, &wishes) {
        let held = if path == "u.csv" { Ok(held.to_owned()) } else { Err("it is not there".to_owned()) };
        wishes.included.insert(path, held);
    }
    let read = read_with(&text, &wishes);
    let left: Vec<String> = read.left_out.iter().map(|left| left.wording().marked().to_owned()).collect();
    let made = read.work("");
    let outlines: Vec<String> = made.work.journeys.iter().map(|journey| outline(&journey.items)).collect();
    let paths: Vec<String> = made.work.steps().iter().map(|step| step.path.to_string()).collect();
    (made.settings.data_file.join(" "), outlines.join("; "), paths.join(" "), left.join("; "))
}

#[test]
fn data_files_are_cut_as_the_plan_says() {
    let file = |settings: &[(&str, &str)], path: &str, held: &str| {
        let settings = [&[("filename", "u.csv")], settings].concat();
        let (files, _, paths, left) = made(&[data(&settings), get("a", path, &[])], held);
        (files, paths, left)
    };
    let told = |files: &str, paths: &str| (files.to_owned(), paths.to_owned(), String::new());
    let names = ("variableNames", "who, years");
    let skips = ("ignoreFirstLine", "true");
    assert_eq!(file(&[], "/${name}", "name,age\nAnn,3\n"), told("u=u.csv", "/{{raw (u.name)}}"));
    assert_eq!(file(&[names, skips], "/${who}", "name,age\nAnn,3\n"), told("u(who,years)[header]=u.csv", "/{{raw (u.who)}}"));
    assert_eq!(file(&[names, skips], "/${who}", "who,years\nAnn,3\n"), told("u=u.csv", "/{{raw (u.who)}}"));
    assert_eq!(file(&[names], "/${who}", "Ann,3\n"), told("u(who,years)=u.csv", "/{{raw (u.who)}}"));
    assert_eq!(file(&[("delimiter", "|")], "/${b}", "a|b\n1|2\n"), told("u[delimiter=%7C]=u.csv", "/{{raw (u.b)}}"));
    assert_eq!(file(&[("delimiter", "\\t")], "/${b}", "a\tb\n1\t2\n"), told("u=u.csv", "/{{raw (u.b)}}"));
    assert_eq!(file(&[names, ("delimiter", "::")], "/${who}", "a::b\n"), told("u(who::years)[delimiter=%3A%3A]=u.csv", "/{{raw (u.who)}}"));
    let latin = [names, ("fileEncoding", "ISO-8859-1")];
    assert_eq!(file(&latin, "/${who}", "Ann,3\n"), told("u(who,years)[encoding=iso-8859-1]=u.csv", "/{{raw (u.who)}}"));
    // Signs that mean nothing there.
    assert_eq!(file(&[names], "/${who}", "\"Ann,3\n"), told("u(who,years)[no-quotes]=u.csv", "/{{raw (u.who)}}"));
    assert_eq!(file(&[names, ("quotedData", "true")], "/${who}", "\"A,n\",3\n"), told("u(who,years)[uneven]=u.csv", "/{{raw (u.who)}}"));
    assert_eq!(file(&[], "/${age}", "name,age\nAnn\n"), told("u[uneven]=u.csv", "/{{raw (u.age)}}"));
    // Names that are none, and one twice.
    assert_eq!(file(&[], "/${a}", "a,,a\n1,2,3\n"), told("u(,,a)[header]=u.csv", "/{{raw (u.a)}}"));
    // What the file does not have is no column of it.
    assert_eq!(file(&[], "/${no}", "name,age\nAnn,3\n").1, "/${no}");
    let told = |settings: &[(&str, &str)]| {
        let settings = [&[("filename", "u.csv"), names], settings].concat();
        made(&[data(&settings), get("a", "/${who}", &[]), get("b", "/b", &[])], "").3
    };
    assert!(told(&[("fileEncoding", "no such")]).contains("its file: no encoding is called 'no such'"));
    assert!(told(&[("delimiter", "far too long a sign")]).contains("cannot stand between fields"));
    // A file that is not there is read as the plan says it is.
    let bare = made(&[data(&[("filename", "v.csv"), names]), get("a", "/${who}", &[])], "");
    assert_eq!(bare.0, "v(who,years)[no-quotes,uneven]=v.csv");
}

#[test]
fn rows_are_taken_where_a_data_set_stands_by_those_who_share_it() {
    let set = |settings: &[(&str, &str)]| data(&[&[("filename", "u.csv")], settings].concat());
    let step = || get("a", "/${name}", &[]);
    let held = "name\nAnn\n";
    let looped = element("LoopController", "l", &[("LoopController.loops", "2")], &[set(&[]), step()]);
    assert_eq!(made(&[looped], held).1, "2x(NextRow(\"u\"), a)");
    assert_eq!(made(&[set(&[("shareMode", "shareMode.thread")]), step()], held).0, "u[for=user]=u.csv");
    let ends = [("recycle", "false"), ("stopThread", "true")];
    assert_eq!(
        made(&[set(&ends), step()], held),
        ("u[end=stop-user]=u.csv".to_owned(), "a".to_owned(), "/{{raw (u.name)}}".to_owned(), String::new())
    );
    assert_eq!(made(&[set(&ends[..1]), step()], held).0, "u[end=mark]=u.csv");
    // Several groups: of the whole plan each has rows; of a group only that.
    let two = [group(&[], &[step()]), group(&[], &[step()])];
    let by_group = [("shareMode", "shareMode.group")];
    assert_eq!(of_groups(&[set(&by_group)], &two, held).0, "u[for=population]=u.csv");
    let of_one = [group(&[], &[set(&[]), step()]), group(&[], &[step()])];
    let (files, outlines, paths, _) = of_groups(&[], &of_one, held);
    assert_eq!((files.as_str(), outlines.as_str(), paths.as_str()), ("u=u.csv", "NextRow(\"u\"), a; a (2)", "/{{raw (u.name)}} /${name}"));
    // Two sets that share a file go on where the other is, and those of each group begin by themselves.
    let each =
        |settings: &[(&str, &str)]| of_groups(&[], &[group(&[], &[set(settings), step()]), group(&[], &[set(settings), step()])], held);
    assert_eq!(each(&[]).0, "u=u.csv");
    assert_eq!(each(&by_group).0, "u=u.csv u_2=u.csv");
}

#[test]
fn functions_read_files_line_by_line() {
    let path = "/${__CSVRead(in/p.csv,0)}${__CSVRead(in/p.csv,2)}${__CSVRead(in/p.csv,next)}/${__StringFromFile(l.txt)}";
    let (files, outline, paths, left) = made(&[get("a", path, &[]), get("b", "/${__StringFromFile(l.txt)}", &[])], "");
    assert_eq!(files, "p(column_0,column_1,column_2,)[no-quotes,uneven]=in/p.csv l(line)[no-quotes]=l.txt l_2(line)[no-quotes]=l.txt");
    assert_eq!(outline, "once (NextRow(\"p\")), NextRow(\"l\"), a, NextRow(\"p\"), NextRow(\"l_2\"), b");
    assert_eq!(paths, "/{{raw (p.column_0)}}{{raw (p.column_2)}}/{{raw (l.line)}} /{{raw (l_2.line)}}");
    assert_eq!(left, "");
    let (_, _, paths, left) = made(&[get("a", "/${__StringToFile(out.txt,${__UUID},true)}", &[])], "");
    assert_eq!(paths, "/true");
    assert!(left.contains("the file 'out.txt' that __StringToFile writes: a load writes no files"), "{left}");
}
