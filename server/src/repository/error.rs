//! What a database's own error means for the call.

use super::model::StoreError;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            // Nobody is home, or all lines are taken.
            sqlx::Error::PoolTimedOut | sqlx::Error::Io(_) => Self::Busy,
            sqlx::Error::Database(database) => match database.code().as_deref().map(kind) {
                Some(Kind::Busy) => Self::Busy,
                Some(Kind::Victim) => Self::Victim,
                _ => Self::Failed(error),
            },
            _ => Self::Failed(error),
        }
    }
}

enum Kind {
    Busy,
    Victim,
    Other,
}

/// PostgreSQL's codes have five characters; SQLite's are numbers whose low byte is the kind.
fn kind(code: &str) -> Kind {
    const SQLITE_BUSY: u32 = 5;
    const SQLITE_LOCKED: u32 = 6;
    match code {
        // serialization_failure, deadlock_detected.
        "40001" | "40P01" => Kind::Victim,
        // lock_not_available, query_canceled (the statement's time was up), idle_in_transaction_session_timeout,
        // read_only_sql_transaction (the primary has moved), too_many_connections.
        "55P03" | "57014" | "25P03" | "25006" | "53300" => Kind::Busy,
        // The server is stopping, starting, or the connection broke.
        "57P01" | "57P02" | "57P03" => Kind::Busy,
        code if code.len() == 5 && code.starts_with("08") => Kind::Busy,
        code if code.len() == 5 => Kind::Other,
        code => match code.parse::<u32>().map(|code| code & 0xff) {
            Ok(SQLITE_BUSY | SQLITE_LOCKED) => Kind::Busy,
            _ => Kind::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_both_databases_are_told_apart() {
        // 517 is SQLITE_BUSY_SNAPSHOT, 2067 a unique constraint; 23557, read as a number, would be a busy one.
        for (code, busy, victim) in [
            ("5", true, false),
            ("517", true, false),
            ("6", true, false),
            ("2067", false, false),
            ("40P01", false, true),
            ("40001", false, true),
            ("55P03", true, false),
            ("08006", true, false),
            ("23505", false, false),
            ("23557", false, false),
        ] {
            assert_eq!(
                (matches!(kind(code), Kind::Busy), matches!(kind(code), Kind::Victim)),
                (busy, victim),
                "{code}"
            );
        }
    }
}
