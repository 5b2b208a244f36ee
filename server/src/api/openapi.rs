//! `GET /api/openapi.json`: the API described. What is declared elsewhere, the resources and the problems' codes, is put
//! in from there.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use warifu::wire::problem::code;

use super::operation::json_text;
use crate::problem::Refusal;
use crate::resource::{Field, Kind, RESOURCES, Resource};

const BASE: &str = include_str!("openapi.json");

/// The document, written once.
static DOCUMENT: LazyLock<Option<String>> = LazyLock::new(|| {
    let mut document: Value = serde_json::from_str(BASE).ok()?;
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"] = json!(code::ALL);
    for resource in &RESOURCES {
        describe(&mut document, resource);
    }
    serde_json::to_string(&document).ok()
});

pub(super) async fn answer() -> Result<Response, Refusal> {
    DOCUMENT.clone().map(|document| json_text(StatusCode::OK, document)).ok_or_else(Refusal::internal)
}

/// Puts a resource's addresses and schemas into the document.
fn describe(document: &mut Value, resource: &Resource) {
    let name = resource.name;
    let one = name.trim_end_matches('s');
    let upper = capitalised(name);
    let json_of = |schema: String| json!({ "application/json": { "schema": schema_of(&schema) } });
    let response = |response: &str| json!({ "$ref": format!("#/components/responses/{response}") });
    let business = resource.business.fields.join(", ");

    let schemas = &mut document["components"]["schemas"];
    schemas[format!("New{upper}")] = object(resource, Vec::new(), false);
    let id = ("id", json!({ "type": "integer", "format": "int64", "description": "Never reused." }));
    schemas[upper.as_str()] = object(resource, vec![id], true);
    schemas[format!("{upper}Page")] = json!({
        "type": "object",
        "required": ["records", "next", "hasMore"],
        "properties": {
            "records": { "type": "array", "items": schema_of(&upper) },
            "next": { "type": "string" },
            "hasMore": { "type": "boolean" },
        },
    });

    let paths = &mut document["paths"];
    paths[format!("/api/{name}/")] = json!({
        "get": {
            "operationId": format!("list{upper}"),
            "tags": ["records"],
            "summary": format!("The {name}, oldest first"),
            "parameters": [{ "$ref": "#/components/parameters/After" }, { "$ref": "#/components/parameters/Limit" }],
            "responses": {
                "200": { "description": "A page.", "content": json_of(format!("{upper}Page")) },
                "400": response("Invalid"), "401": response("NotAuthenticated"),
                "500": response("Internal"), "503": response("Busy"),
            },
        },
        "post": {
            "operationId": format!("create{upper}"),
            "tags": ["records"],
            "summary": format!("Create one of the {name}"),
            "description": format!("An owner has one at most with the same {business}, whatever the keys."),
            "parameters": [{ "$ref": "#/components/parameters/Key" }],
            "requestBody": { "required": true, "content": json_of(format!("New{upper}")) },
            "responses": {
                "200": {
                    "description": "It was created before, as this.",
                    "headers": { "Idempotency-Replayed": { "$ref": "#/components/headers/Replayed" } },
                    "content": json_of(upper.clone()),
                },
                "201": {
                    "description": "It was created now.",
                    "headers": { "Location": { "$ref": "#/components/headers/Location" } },
                    "content": json_of(upper.clone()),
                    "links": { "read": {
                        "operationId": format!("read{upper}"), "parameters": { "id": "$response.body#/id" },
                    } },
                },
                "400": response("Invalid"), "401": response("NotAuthenticated"), "408": response("TooSlow"),
                "409": response("Conflict"), "413": response("TooLarge"), "415": response("NotJson"),
                "422": response("KeyTaken"), "500": response("Internal"), "503": response("Busy"),
            },
        },
    });
    paths[format!("/api/{name}/{{id}}")] = json!({
        "parameters": [{ "$ref": "#/components/parameters/Id" }],
        "get": {
            "operationId": format!("read{upper}"),
            "tags": ["records"],
            "summary": format!("One {one}"),
            "responses": {
                "200": { "description": "The record.", "content": json_of(upper.clone()) },
                "401": response("NotAuthenticated"), "404": response("NotFound"),
                "500": response("Internal"), "503": response("Busy"),
            },
        },
    });
}

fn schema_of(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A resource's fields, and `more` before them; as they are given, or as they are `told`.
fn object(resource: &Resource, more: Vec<(&str, Value)>, told: bool) -> Value {
    let mut object = json!({ "type": "object", "additionalProperties": false, "required": [], "properties": {} });
    let fields = resource.fields.iter().map(|field| (field.name, schema(field, told)));
    for (name, schema) in more.into_iter().chain(fields) {
        object["properties"][name] = schema;
        if let Some(required) = object["required"].as_array_mut() {
            required.push(json!(name));
        }
    }
    object
}

fn schema(field: &Field, told: bool) -> Value {
    let decimal = "^(?!-0(\\.0+)?$)-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,4})?$";
    match field.kind {
        Kind::Text { max } => json!({ "type": "string", "minLength": 1, "maxLength": max }),
        Kind::Currency => json!({ "type": "string", "pattern": "^[A-Z]{3}$", "examples": ["JPY"] }),
        Kind::Decimal if told => json!({ "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$" }),
        Kind::Decimal => json!({
            "description": "Kept to the last digit. A number is taken as it is written; a string says it safest.",
            "oneOf": [
                { "type": "string", "pattern": decimal, "examples": ["12.50"] },
                { "type": "integer", "minimum": -999_999_999_999_999_i64, "maximum": 999_999_999_999_999_i64 },
            ],
        }),
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
