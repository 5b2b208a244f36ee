//! From a JavaScript value to JSON text, without losing anything in silence: what JSON cannot carry is an error with its
//! path. Minus zero is written `-0.0`, which JSON readers give back as minus zero.

use js_sys::{Array, JsString, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::values::InvalidValue;

/// How deep values may be nested; a cycle ends here at the latest.
const MAX_DEPTH: usize = 100;

/// The text of one JSON object.
pub(super) fn object_to_json(value: &JsValue) -> Result<String, InvalidValue> {
    let mut writer = Writer { text: String::new(), path: Vec::new(), ancestors: Vec::new() };
    match value.dyn_ref::<Object>() {
        Some(object) if !Array::is_array(value) => writer.object(object)?,
        _ => return Err(InvalidValue::new("", "Values must be one plain object.")),
    }
    Ok(writer.text)
}

struct Writer {
    text: String,
    path: Vec<Step>,
    ancestors: Vec<Object>,
}

enum Step {
    Member(String),
    Index(u32),
}

impl Writer {
    fn value(&mut self, value: &JsValue) -> Result<(), InvalidValue> {
        if value.is_null() {
            self.text.push_str("null");
            Ok(())
        } else if let Some(boolean) = value.as_bool() {
            self.text.push_str(if boolean { "true" } else { "false" });
            Ok(())
        } else if let Some(number) = value.as_f64() {
            self.number(number)
        } else if let Some(string) = value.dyn_ref::<JsString>() {
            self.string(string)
        } else if Array::is_array(value) {
            self.array(value.unchecked_ref())
        } else if let Some(object) = value.dyn_ref::<Object>() {
            self.object(object)
        } else {
            Err(self.invalid(&format!("{} cannot be written as JSON.", describe(value))))
        }
    }

    fn number(&mut self, number: f64) -> Result<(), InvalidValue> {
        // serde_json writes the shortest text that reads back as the same number.
        match serde_json::Number::from_f64(number) {
            Some(_) if number == number.trunc() && number.abs() < 9e15 && number.to_bits() != (-0.0_f64).to_bits() => {
                self.text.push_str(&format!("{number:.0}"));
            }
            Some(written) => self.text.push_str(&written.to_string()),
            None => return Err(self.invalid(&format!("{number} cannot be written as JSON."))),
        }
        Ok(())
    }

    fn string(&mut self, string: &JsString) -> Result<(), InvalidValue> {
        let text = self.well_formed(string)?;
        self.quoted(&text)
    }

    fn quoted(&mut self, text: &str) -> Result<(), InvalidValue> {
        let quoted = serde_json::to_string(text).map_err(|error| self.invalid(&error.to_string()))?;
        self.text.push_str(&quoted);
        Ok(())
    }

    fn well_formed(&self, string: &JsString) -> Result<String, InvalidValue> {
        if !string.is_valid_utf16() {
            return Err(self.invalid("The text has half a character in it (a lone surrogate), which cannot be sent."));
        }
        let text = String::from(string);
        if text.contains('\0') {
            return Err(self.invalid("The text has the character U+0000 in it, which databases cannot store."));
        }
        Ok(text)
    }

    fn array(&mut self, array: &Array) -> Result<(), InvalidValue> {
        self.enter(array)?;
        self.text.push('[');
        for index in 0..array.length() {
            if index > 0 {
                self.text.push(',');
            }
            self.path.push(Step::Index(index));
            self.value(&array.get(index))?;
            self.path.pop();
        }
        self.text.push(']');
        self.ancestors.pop();
        Ok(())
    }

    fn object(&mut self, object: &Object) -> Result<(), InvalidValue> {
        if !is_plain(object) {
            return Err(self.invalid(&format!("{} is not plain JSON; convert it first.", describe(object))));
        }
        if Object::get_own_property_symbols(object).length() > 0 {
            return Err(self.invalid("A member named by a symbol cannot be written as JSON."));
        }
        self.enter(object)?;
        self.text.push('{');
        for (index, name) in Object::keys(object).iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let written = self.well_formed(name.unchecked_ref())?;
            self.quoted(&written)?;
            self.text.push(':');
            self.path.push(Step::Member(written));
            let value = Reflect::get(object, &name).map_err(|_| self.invalid("Reading it throws."))?;
            self.value(&value)?;
            self.path.pop();
        }
        self.text.push('}');
        self.ancestors.pop();
        Ok(())
    }

    fn enter(&mut self, object: &Object) -> Result<(), InvalidValue> {
        if self.ancestors.iter().any(|ancestor| Object::is(ancestor, object)) {
            return Err(self.invalid("It contains itself."));
        }
        if self.ancestors.len() >= MAX_DEPTH {
            return Err(self.invalid(&format!("It is nested more than {MAX_DEPTH} levels deep.")));
        }
        self.ancestors.push(object.clone());
        Ok(())
    }

    fn invalid(&self, reason: &str) -> InvalidValue {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Member(name) if is_identifier(name) && path.is_empty() => path.push_str(name),
                Step::Member(name) if is_identifier(name) => path.push_str(&format!(".{name}")),
                Step::Member(name) => path.push_str(&format!("[{}]", serde_json::Value::from(name.as_str()))),
            }
        }
        InvalidValue::new(path, reason)
    }
}

/// Made by `{}` in any realm, or without a prototype.
fn is_plain(object: &Object) -> bool {
    let prototype = Object::get_prototype_of(object);
    JsValue::from(&prototype).is_null() || JsValue::from(Object::get_prototype_of(&prototype)).is_null()
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$')
}

/// What it is, for a person.
fn describe(value: &JsValue) -> String {
    if value.is_undefined() {
        return "undefined".to_owned();
    }
    if value.is_bigint() {
        return "A BigInt".to_owned();
    }
    if value.is_function() {
        return "A function".to_owned();
    }
    if value.is_symbol() {
        return "A symbol".to_owned();
    }
    let name = Reflect::get(value, &"constructor".into())
        .and_then(|constructor| Reflect::get(&constructor, &"name".into()))
        .ok()
        .and_then(|name| name.as_string())
        .filter(|name| !name.is_empty());
    name.map_or_else(|| "An object of a class".to_owned(), |name| format!("A value of class {name}"))
}
