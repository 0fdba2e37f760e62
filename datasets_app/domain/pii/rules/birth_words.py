"""The words of some thirty languages that say a date is one of birth."""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.rules.cue_words import make_cues

# Of nothing but a date of birth: any date near it is one.
CERTAIN = (
    r"d\.? ?/?o\.? ?/?b\.?(?![^\W_])"
    r"|(?:(?:place|time|city|country|birthplace)[ ]?(?:[/&,]|and|,? ?and)[ ]?)?"
    r"(?:dates?|day|month)(?:[ ]?(?:[/&,]|and)[ ]?(?:dates?|day|month|year|time"
    r"|place)){0,2}[ _-]?of[ _-]?birth"
    r"|birth[ _-]?(?:dates?|dt)(?![^\W_])|birth[ _-]?day(?= ?[\"']?[:=])|birth ?place ?(?:/|and|&) ?date"
    r"|births?(?=[\"']?[ \t]?[:=]|[ ]\d)"
    r"|geb(?:urts|\.)?[ _-]?dat(?:um|en|\.)?(?![^\W_])|geb(?:urts)?tage?(?=[\"']?[ ]?[:=])"
    r"|geb\.(?:[ ]?am)?|geboren am"
    r"|(?:dates?|jour|lieu)[ _](?:de[ _])?naissance|naissance(?=[\"']?[ ]?[:=]|[ ]\d)|ddn(?![^\W_])|d\.d\.n\."
    r"|(?:fechas?|f(?:ec)?\.?)?[ _]?(?:de[ _])?nac(?:imiento|\.)(?! de (?:la|las|una))|f\. ?n\.(?=[ :])"
    r"|(?:luogo e )?dat[ae][ _](?:di[ _])?nascita|nascita(?=[\"']?[ ]?[:=]|[ ]\d)"
    r"|d(?:ata|t)\.?[ _]?(?:de[ _])?nasc(?:imento|\.)?|nascimento(?=[\"']?[ ]?[:=]|[ ]\d)|nasc\."
    r"|d\.?n\.?(?=[ ]?:)|geboortedat(?:um|a)|födelse(?:datum|dag|tid)|fødsels(?:dato|dag)|fæðingardagur"
    r"|syntymä(?:aika|päivä)\w{0,3}|synt\."
    r"|dat[ay][ _](?:urodzenia|ur\.|ur(?![^\W_]))|dat(?:um|a)[ _]narozen[íi]|nar\.(?=[ :]{0,2}\d)"
    r"|dátum narodenia|születési (?:helye? és )?(?:idej?e?|idő|dátum)\w{0,3}|szül\.(?: ?(?:idő|dátum"
    r"|hely, idő))?"
    r"|data na[șşs]terii|doğum (?:tarihi|günü)\w{0,3}|d\. ?tarihi|t(?:anggal|gl\.?) lahir|sünni(?:aeg"
    r"|kuupäev)"
    r"|dzimšanas datums|gimimo data|datum ro[đd]enja|datum rojstva|дат[аыу] рождения|д\. ?р\.|дата народження"
    r"|дата на раждане|ημερομηνία γέννησης|ημ\. ?γέννησης"
    r"|生年月日|出生(?:日期|年月日|日)|생년월일|जन्म ?(?:तिथि|दिनांक|तारीख)"
    r"|תאריך לידה|تاريخ (?:الميلاد|الولادة)|تاریخ تولد"
    r"|ngày(?:,)? (?:tháng,? năm )?sinh(?! nhật)"
)
BIRTH_YEAR = (
    r"years? of birth|birth[ _-]?year|y\.?o\.?b\.?(?![^\W_])|geburtsjahr|jahrgang|année de naissance"
    r"|año de nacimiento|anno di nascita|ano de nascimento|geboortejaar|födelseår|fødselsår|syntymävuosi"
    r"|rok urodzenia|rok narození|doğum yılı|год рождения|năm sinh|sinh năm|tahun lahir|出生年份?"
)
# Of parties and presents, too.
BIRTHDAY = (
    r"b['’-]?days?(?![^\W_])|birth[ -]?days?|geburtstag(?:e|s)?|anniversaire(?! de)|cumple(?:años)?(?![^\W_])"
    r"|compleanno|aniversário(?! de)|verjaardag|urodzin[yam]?|narozenin[yám]?|születésnap\w{0,3}|ulang tahun"
    r"|день рождения|день народження|γενέθλια|生日|誕生日|생일|วันเกิด|ngày sinh nhật|יום הולדת|عيد ميلاد"
)
BORN = (
    r"born|geb(?:oren|\.)?|née?(?:\(e\))?|nacid[oa]s?|nací|nació|nat[oa](?:/[ao])?|nascid[oa](?:\([ao]\))?"
    r"|nasci|nasceu|född|født|fædd(?:ur)?"
    r"|syntynyt|urodz(?:on[yea]|ony/a|\.)|urodził[aeo]?m? się|ur\.|narozen[aý]?|narod(?:en[ýá]"
    r"|il[ao]?) ?(?:s[ea])?|született(?:em)?|născut[ăa]?|doğdum|doğumlu\w{0,4}|lahir|ro[đd]en[a]?|rojen[a]?"
    r"|родился|родилась|народи(?:вся|лася)|г\. ?р\.|года рождения|р\. ?н\.|γεννήθηκ[αε]"
    r"|出生于|出生於|生于|生於|生まれ|出生|출생|년생|sinh(?= ngày)|เกิด(?:วันที่|เมื่อ)?|जन्म|נולד(?:תי|ה)?|ولدت|وُلد"
)
CUE = lazy_re.compile(
    rf"(?:(?<![^\W_])|(?<=[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af\d])(?=[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af])"
    r"|(?<=[a-z])(?=[DB]))"
    rf"(?:(?P<year>{BIRTH_YEAR})|(?P<certain>{CERTAIN})|(?P<birthday>{BIRTHDAY})|(?P<born>{BORN}))",
    re.IGNORECASE,
)
# One of these words is part of every cue.
CUE_WORDS = make_cues(
    """
    dob birth births dateofbirth birthdate birthdates birthdt birthday birthdays bday bdays birthyear yob born
    birthplace patientdob userdob customerdob
    geburtsdatum geburtstag geburtstage geburtstags geb geboren geburtsjahr jahrgang gebdatum gebdat
    naissance né née anniversaire ddn
    nacimiento nac nacido nacida nacidos nacidas nací nació cumpleaños cumple
    nascita nato nata compleanno nascimento nasc nascido nascida nasci nasceu aniversário dn
    geboortedatum geboortedata geboortejaar verjaardag
    födelsedatum födelsedag födelsetid födelseår född fødselsdato fødselsdag fødselsår født fæðingardagur
    fæddur fædd syntymäaika syntymäaikani syntymäpäivä syntymäpäiväni syntymävuosi syntynyt synt
    urodzenia urodz urodzony urodzona urodzone urodziłem urodziłam urodził urodziła ur urodziny urodzin
    narozen narozena narození narozeni narozený narodil narodila narodenia narodený narodená nar narozeniny
    narozenin
    született születtem születési szül születésnap születésnapom nașterii naşterii nasterii născut născută
    doğum doğdum doğumlu doğumluyum tarihi lahir tahun sünniaeg sünnikuupäev dzimšanas gimimo
    rođenja rodenja rođen rođena roden rodena rojstva rojen rojena
    рождения народження раждане родился родилась народився народилася γέννησης γεννήθηκα γεννήθηκε γενέθλια
    जन्म לידה נולדתי נולד נולדה הולדת الميلاد الولادة ميلاد تولد ولدت sinh
    """
)
_UNSPACED_WORDS = """
    生年月日 出生 생년월일 생일 출생 년생 生日 誕生日 生まれ 生于 生於 年生 日生 일생 วันเกิด เกิดวันที่ เกิดเมื่อ जन्म
"""
UNSPACED_CUES = tuple(word.encode() for word in _UNSPACED_WORDS.split())
# d.o.b., d/o/b, b. 1984, d.d.n., f.n., г.р., д.р.
SPELLED_CUES = tuple(
    frozenset(letter.encode() for letter in letters.split())
    for letters in ("d o b", "b day", "d n", "f n", "г р", "д р", "р н")
)
make_cues("d o b day n f г р д н")
# What names another event: a date behind it is none of birth.
OTHER_EVENT = (
    r"(?:appoint|arriv|book(?!let)|check|deliver|depart|due|event|expir|flight|issue|order|part(?:y|ies)"
    r"|pay(?!s)"
    r"|purchas|releas|reserv|return|schedul|ship|today|tomorrow|travel|updat|valid|visit|since|until|meet"
    r"|dinner|gift|present|lunch|trip|start|end(?:s|ed)?(?![^\W_])|wedding|admitted|admission|sign|cake"
    r"|celebrat|surprise"
    r"|voucher|deal|discount|coupon|weekend|table|ticket|holiday|vacation|concert|certificate|control|rate"
    r"|submi|verified on|updat|creat|chang(?:e|ed|ing) on|mov(?:e|ed|ing) |join|marri|graduat|call(?:s|ed"
    r"|ing)?(?![^\W_])"
    r"|missing|required|company|die[ds]?(?![^\W_])|death|bash|sale|stay|diagnos|admit|seen|exam)"
)
