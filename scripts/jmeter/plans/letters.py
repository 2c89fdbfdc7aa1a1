"""Letters that are not written in UTF-8."""

from cases import one_user
from elements import *
from server import Answer

LATIN = {"contentEncoding": "ISO-8859-1"}
CSV = "name,city\nJürgen,Köln\nZoë,Liège\n".encode("latin-1")

CASES = [
    one_user(
        "letters-of-a-query",
        "HTTPSamplerProxy",
        "values of a query in ISO-8859-1, as they are typed and as they are known on the way; names and the path are UTF-8",
        get("/ü", arguments=[argument("ü", "a ü€ß", encode=True), argument("v", "${v}", encode=True), argument("w", "b%FCc")], **LATIN),
        request("DELETE", "/gone", arguments=[argument("v", "${v}", encode=True)], **LATIN),
        variables={"v": "äö/€"},
    ),
    one_user(
        "letters-of-a-form",
        "HTTPSamplerProxy",
        "names and values of a form in windows-1252, and what that has no letter for",
        request(
            "POST",
            "/form",
            arguments=[argument("straße", "ü€ж", encode=True), argument("v", "${v}", encode=True), argument("w", "b%FCc")],
            contentEncoding="windows-1252",
        ),
        request("PUT", "/put", arguments=[argument("v", "${v}", encode=True)], contentEncoding="Shift_JIS"),
        variables={"v": "アü"},
    ),
    one_user(
        "letters-of-a-body",
        "HTTPSamplerProxy HeaderManager",
        "a body as it is in ISO-8859-15 and in windows-1251, with a type of its own and without",
        raw("POST", "/own", '{"ü": "€ ${v}"}', kind="application/json", contentEncoding="ISO-8859-15"),
        request("POST", "/plain", arguments=[argument("", "жар ${v} ü")], postBodyRaw=True, contentEncoding="windows-1251"),
        variables={"v": "ß ж"},
    ),
    one_user(
        "letters-of-a-multipart-form",
        "HTTPSamplerProxy",
        "fields of a multipart form in ISO-8859-1, beside a file",
        request(
            "POST",
            "/up",
            arguments=[argument("größe", "ü ${v}"), argument("typed", "ü", content_type="text/plain; charset=UTF-8")],
            files=[file("a.txt", "datei", "text/plain")],
            contentEncoding="ISO-8859-1",
        ),
        variables={"v": "ß€"},
        files={"a.txt": "ü\n"},
    ),
    one_user(
        "letters-by-default",
        "ConfigTestElement",
        "an encoding of all samplers, and another of one",
        defaults(contentEncoding="ISO-8859-1"),
        request("POST", "/a", arguments=[argument("v", "ü", encode=True)]),
        request("POST", "/b", arguments=[argument("v", "ü", encode=True)], contentEncoding="UTF-8"),
        get("/c", arguments=[argument("v", "ü", encode=True)]),
    ),
    one_user(
        "letters-taken-from-answers",
        "HTTPSamplerProxy RegexExtractor",
        "a value of an answer in UTF-8 is sent in ISO-8859-1",
        get("/answer", regex("v", "v=(.*)")),
        request("POST", "/form", arguments=[argument("v", "${v}", encode=True)], **LATIN),
        answers={"/answer": Answer("v=Grüße")},
    ),
    one_user(
        "letters-of-rows",
        "CSVDataSet",
        "a data file in ISO-8859-1",
        data_file("people.csv", fileEncoding="ISO-8859-1"),
        raw("POST", "/hello", "${name} ${city}"),
        loops=2,
        files={"people.csv": CSV},
    ),
    one_user(
        "letters-of-rows-in-utf-16",
        "CSVDataSet",
        "a data file in UTF-16",
        data_file("people.csv", fileEncoding="UTF-16"),
        raw("POST", "/hello", "${name} ${city}"),
        loops=2,
        files={"people.csv": "name,city\nJürgen,Köln\nZoë,Liège\n".encode("utf-16")},
    ),
    one_user(
        "letters-of-a-file",
        "__FileToString",
        "a text of a file in windows-1252, sent in UTF-8 and in itself",
        raw("POST", "/text", "${__FileToString(text.txt,windows-1252)}"),
        request("POST", "/form", arguments=[argument("v", "${__FileToString(text.txt,windows-1252)}", encode=True)], contentEncoding="windows-1252"),
        files={"text.txt": "für5€".encode("cp1252")},
    ),
]
