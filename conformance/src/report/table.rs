//! The report for people.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use textwrap::{Options, fill};

use super::{CaseResult, Grade, Report, Shown, Verdict};

const WIDTH: usize = 100;

/// As many requests are shown for a fault, and so much of their bodies; the JSON has more.
const SHOWN: usize = 8;
const BRIEF: usize = 110;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const UNSURE: Style = AnsiColor::Yellow.on_default();
const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// A table of the cases, then each fault with the requests that show it, then what it comes to. Holds escape codes for
/// colours; write it through `anstream` to lose them where there is no terminal.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut out = String::new();
    line(
        &mut out,
        STRONG,
        format_args!("{:<4} {:<6} {:<11} {:<11} {:<53} {:>9}", "case", "as", "effects", "statuses", "", "ms"),
    );
    for result in &report.results {
        row(&mut out, result);
    }
    let faults: Vec<_> =
        report.results.iter().filter(|result| result.effects.failed() || result.statuses.failed()).collect();
    for result in faults {
        fault(&mut out, result);
    }
    summary(&mut out, report);
    out
}

/// Writing into a string does not fail.
fn line(out: &mut String, style: Style, text: fmt::Arguments<'_>) {
    let _ = writeln!(out, "{style}{text}{style:#}");
}

fn word(grade: &Grade) -> (&'static str, Style) {
    match grade {
        Grade::Held => ("held", GOOD),
        Grade::Failed(_) => ("FAILED", BAD),
        Grade::NotTested(_) => ("not tested", UNSURE),
        Grade::NotGraded => ("-", QUIET),
    }
}

fn row(out: &mut String, result: &CaseResult) {
    let (effects, effect_style) = word(&result.effects);
    let (statuses, status_style) = match word(&result.statuses) {
        ("FAILED", _) => ("differ", UNSURE),
        other => other,
    };
    let on = result.resource.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let title: String = format!("{}{on}", result.title).chars().take(53).collect();
    let _ = writeln!(
        out,
        "{:<4} {:<6} {effect_style}{effects:<11}{effect_style:#} {status_style}{statuses:<11}{status_style:#} {title:<53} {QUIET}{:>9}{QUIET:#}",
        result.case,
        result.profile,
        result.took.as_millis(),
    );
    let indent = " ".repeat(36);
    let aside = match (&result.effects, &result.note) {
        (Grade::NotTested(because), _) => Some(format!("not tested: {because}")),
        (_, Some(note)) => Some(format!("note: {note}")),
        _ => None,
    };
    if let Some(aside) = aside {
        let options = Options::new(WIDTH).initial_indent(&indent).subsequent_indent(&indent);
        line(out, QUIET, format_args!("{}", fill(&aside, options)));
    }
}

fn fault(out: &mut String, result: &CaseResult) {
    let wrapped = Options::new(WIDTH).initial_indent("  ").subsequent_indent("  ");
    for (name, grade, style) in [("effect", &result.effects, BAD), ("status", &result.statuses, UNSURE)] {
        if let Grade::Failed(because) = grade {
            out.push('\n');
            line(out, style, format_args!("{} ({}), {name}: {}", result.case, result.profile, result.title));
            let _ = writeln!(out, "{}", fill(because, wrapped.clone()));
        }
    }
    let exchange = Options::new(WIDTH).initial_indent("    ").subsequent_indent("      ");
    let told = told(&result.exchanges);
    let hidden = told.len().saturating_sub(SHOWN);
    let (head, tail) = if hidden > 0 { (SHOWN / 2, told.len() - SHOWN / 2) } else { (told.len(), told.len()) };
    for (at, text) in told.iter().enumerate() {
        if at < head || at >= tail {
            line(out, QUIET, format_args!("{}", fill(text, exchange.clone())));
        } else if at == head {
            line(out, QUIET, format_args!("    … {hidden} more; the JSON report has them"));
        }
    }
}

/// The requests in short, those in a row that are alike told once.
fn told(exchanges: &[Shown]) -> Vec<String> {
    let mut told: Vec<(String, usize)> = Vec::new();
    for shown in exchanges {
        let short = |text: &str| match text.char_indices().nth(BRIEF) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        let body = shown.body.as_deref().map(short);
        let text = Shown { body, answer: short(&shown.answer), ..shown.clone() }.to_string();
        match told.last_mut() {
            Some((last, times)) if *last == text => *times += 1,
            _ => told.push((text, 1)),
        }
    }
    told.into_iter().map(|(text, times)| if times > 1 { format!("{times} times {text}") } else { text }).collect()
}

fn summary(out: &mut String, report: &Report) {
    let count = |wanted: fn(&CaseResult) -> bool| report.results.iter().filter(|result| wanted(result)).count();
    let held = count(|result| result.effects == Grade::Held);
    let failed = count(|result| result.effects.failed());
    let differ = count(|result| result.statuses.failed());
    let untested = count(|result| matches!(result.effects, Grade::NotTested(_)) && !result.statuses.failed());
    let _ =
        writeln!(out, "\nEffects: {held} held, {failed} failed. Statuses: {differ} differ. Not tested: {untested}.");
    let _ = writeln!(out, "The records of this run are marked {}.", report.marker);
    let (style, text) = match report.verdict() {
        Verdict::Passed => (GOOD, "One operation, one row: every tested effect and status is as it must be."),
        Verdict::PassedWithWarnings => {
            (UNSURE, "One operation, one row; but WARNING: statuses differ from the profile, see above.")
        }
        Verdict::Failed => (BAD, "This backend does not keep one operation to one row."),
        Verdict::NothingTested => (BAD, "Nothing was tested, so nothing is known."),
    };
    line(out, style, format_args!("{text}"));
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.who, self.method, self.path)?;
        if let Some(key) = &self.key {
            write!(f, " key {key}")?;
        }
        if let Some(body) = &self.body {
            write!(f, " {body}")?;
        }
        match self.status {
            Some(status) => write!(f, " -> {status} {}", self.answer),
            None => write!(f, " -> {}", self.answer),
        }
    }
}
