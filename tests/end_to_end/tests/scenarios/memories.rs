//! What people write.

/// A hundred memories: Japanese, emoji with joiners, a character outside the BMP, が composed and decomposed, a long text,
/// empty bodies, and quotes and line ends that JSON has to escape.
pub(crate) fn hundred() -> Vec<(String, String)> {
    let long = "長い一日だった。海まで歩いて、帰りは雨。\n".repeat(1_700);
    assert!(long.len() > 100_000, "the long text has 100 kB");
    let special: Vec<(&str, &str)> = vec![
        ("海", "夕方、二人で歩いた。"),
        ("家族 👩‍👩‍👧‍👦", "🏳️‍🌈 と 👨🏽‍🚀、それから 🇯🇵"),
        ("𠮷野家", "𠮷は「つちよし」"),
        ("NFC が", "\u{304c}っこう"),
        ("NFD か\u{3099}", "\u{304b}\u{3099}っこう"),
        ("長い", &long),
        ("空", ""),
        ("\"quoted\" \\ back", "tab\tnewline\nreturn\r\u{2028}\u{7f}\u{1}"),
        ("  spaces kept  ", "\u{feff}bom and \u{200b}zero width"),
        ("العربية", "שלום עולם"),
    ];
    let special = special.into_iter().map(|(title, body)| (title.to_owned(), body.to_owned()));
    let plain = (0..90).map(|number| (format!("思い出 {number}"), format!("本文 {number} です。")));
    special.chain(plain).collect()
}

/// So many short ones.
pub(crate) fn short(count: usize) -> Vec<(String, String)> {
    (0..count).map(|number| (format!("思い出 {number}"), format!("{number}番目"))).collect()
}
