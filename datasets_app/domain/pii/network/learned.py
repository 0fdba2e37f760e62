"""The languages that the network has learned, by their codes (ISO 639-1)."""

# In the order of the columns that the weights have for them: a further one is appended.
NAMES = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans ar:Arabic be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish"
        " de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish"
        " fr:French ga:Irish gl:Galician he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian"
        " id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh ko:Korean lt:Lithuanian"
        " lv:Latvian mk:Macedonian mn:Mongolian ms:Malay nl:Dutch no:Norwegian pl:Polish pt:Portuguese"
        " ro:Romanian ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish ta:Tamil"
        " te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese"
    ).split()
)
