//! The requests an API describes, found by the routes of a log: what was sent to be written?
//!
//! A log says that `POST /v1/orders` was asked for a thousand times and not what was in it; the description of the API says what it
//! takes. The two write paths in their own ways: the log's routes are put together from what was asked for, with kinds of things in
//! braces, and behind a gateway they may lack what the description's server begins with, or have it. So segments are held against each
//! other one by one, where what stands in braces in the description fits anything.

use plan::template::{Template, Value};

use super::openapi::{Server, operations};
use super::{ReadError, Request, utf8};

/// Requests by method and path.
#[derive(Debug, Clone)]
pub struct Described(Vec<Operation>);

#[derive(Debug, Clone)]
struct Operation {
    begins: Vec<String>,
    path: Vec<String>,
    request: Request,
}

impl Described {
    /// Reads a description by OpenAPI 3; it need not name a server.
    ///
    /// # Errors
    /// If it is none, or is broken.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (collection, described) = operations(utf8(bytes)?, Server::Any(None))?;
        let operations = collection.requests.into_iter().zip(described).map(|(mut request, (begins, path))| {
            // Who asks is the same for what the log has, which says nothing of it.
            let is_secret = |value: &Template| value.values().any(|value| matches!(value, Value::Env(_)));
            request.headers.retain(|(_, value)| !is_secret(value));
            request.auth = None;
            Operation { begins: segments(&begins), path: segments(&path), request }
        });
        Ok(Self(operations.collect()))
    }

    /// The request that a route of a log is most likely: `POST`, `/orders/{id}`.
    #[must_use]
    pub fn find(&self, method: &str, route: &str) -> Option<&Request> {
        let asked = segments(route);
        let fits = |operation: &&Operation| -> Option<(bool, usize)> {
            let whole: Vec<String> = operation.begins.iter().chain(&operation.path).cloned().collect();
            let with = fit(&whole, &asked).map(|fixed| (true, fixed));
            with.or_else(|| fit(&operation.path, &asked).map(|fixed| (false, fixed)))
        };
        let of_method = self.0.iter().filter(|operation| operation.request.method == method);
        // The first of several that are as good.
        let found = of_method
            .filter_map(|operation| Some((fits(&operation)?, operation)))
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        found.map(|(_, operation)| &operation.request)
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// How many segments are the same word, if all fit.
fn fit(described: &[String], asked: &[String]) -> Option<usize> {
    let fits = |(described, asked): (&String, &String)| described == asked || described.contains('{');
    let all = described.len() == asked.len() && described.iter().zip(asked).all(fits);
    all.then(|| described.iter().zip(asked).filter(|(described, asked)| described == asked && !described.contains('{')).count())
}

#[cfg(test)]
mod tests {
    use plan::work::Body;

    use super::*;

    const SHOP: &str = r#"
openapi: 3.1.0
servers: [{url: /v1}]
security: [{key: []}]
paths:
  /orders: {post: {requestBody: {content: {application/json: {schema: {type: object, required: [item], properties: {item: {type: integer, minimum: 1, maximum: 9}}}}}}}}
  /orders/{order}: {put: {requestBody: {content: {application/x-www-form-urlencoded: {example: {a: 1}}}}}}
  /orders/last: {put: {parameters: [{name: X-Why, in: header, required: true, example: test}], requestBody: {content: {text/plain: {example: now}}}}}
components: {securitySchemes: {key: {type: apiKey, name: X-Key, in: header}}}
"#;

    #[test]
    fn a_route_of_a_log_finds_its_request() {
        let described = Described::read(SHOP.as_bytes()).unwrap();
        for (method, route, found) in [
            ("POST", "/v1/orders", Some("POST /orders")),
            ("POST", "/orders", Some("POST /orders")),
            ("PUT", "/orders/{id}", Some("PUT /orders/{order}")),
            ("PUT", "/v1/orders/{uuid}", Some("PUT /orders/{order}")),
            ("PUT", "/orders/last", Some("PUT /orders/last")),
            ("POST", "/orders/{id}", None),
            ("POST", "/v2/orders", None),
            ("PATCH", "/orders", None),
        ] {
            assert_eq!(described.find(method, route).map(|request| request.name.as_str()), found, "{method} {route}");
        }
        let sent = |method, route| described.find(method, route).unwrap().sent("");
        let (headers, body) = sent("POST", "/orders");
        assert!(headers.is_empty() && matches!(&body, Body::Json(text) if text.to_string() == "{\"item\":{{random 1 9}}}"), "{body:?}");
        let (headers, body) = sent("PUT", "/orders/last");
        assert_eq!(body, Body::Text("now".into()));
        assert!(headers.contains(&("X-Why".to_owned(), "test".into())) && headers.iter().all(|(name, _)| name != "X-Key"), "{headers:?}");
    }
}
