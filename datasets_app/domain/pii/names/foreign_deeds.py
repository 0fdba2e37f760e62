"""What people do, in other languages than English: "Julia hat den Server neu gestartet", "Julia dijo que no".

The verbs are of people: what software does as well ("läuft", "findet", "fonctionne") isn't among them.
"""

import re

MAX_DEED_CHARACTERS = 120
# Behind "hat" or "heeft" the participle stands at the end of its clause.
_GERMAN = (
    "gesagt|gemeint|geschrieben|gefragt|geantwortet|erzählt|erklärt|angerufen|gemailt|geschickt|gesendet|verschickt"
    "|bestellt|bezahlt|gekauft|geholfen|repariert|(?:neu)?gestartet|installiert|eingerichtet|gelöscht|geändert|geprüft"
    "|getestet|gelöst|behoben|gebaut|vergessen|versprochen|bestätigt|gebeten|eingeladen|unterschrieben|gekündigt"
    "|übernommen|gemergt?ed?|gepusht|committe?t|deploye?d?t?|freigegeben|hochgeladen|ausgerollt|zurückgesetzt|umgestellt"
    "|angelegt|notiert|empfohlen|vorgeschlagen|bemerkt|entdeckt|gelesen|angeschaut|nachgesehen|aktualisiert"
)
_DUTCH = (
    "gezegd|geschreven|gevraagd|geantwoord|verteld|uitgelegd|gebeld|gemaild|gestuurd|verstuurd|besteld|betaald|gekocht"
    "|geholpen|gerepareerd|herstart|opgestart|geïnstalleerd|ingesteld|verwijderd|aangepast|gecontroleerd|getest"
    "|opgelost|gemaakt|vergeten|beloofd|bevestigd|uitgenodigd|getekend|opgezegd|overgenomen|gemerged|gepusht"
    "|goedgekeurd|voorgesteld|gemerkt|ontdekt|gelezen|bekeken|bijgewerkt"
)
# In Romance languages it stands behind the auxiliary, but for an adverb or a pronoun.
_FRENCH = (
    "dit|écrit|demandé|répondu|raconté|expliqué|appelé|envoyé|commandé|payé|acheté|aidé|réparé|redémarré|relancé"
    "|installé|configuré|supprimé|modifié|vérifié|testé|résolu|corrigé|créé|oublié|promis|confirmé|invité|signé"
    "|résilié|repris|fusionné|mergé|poussé|déployé|validé|proposé|remarqué|découvert|lu|changé|mis à jour"
)
_SPANISH_PARTICIPLES = (
    "dicho|escrito|preguntado|respondido|contado|explicado|llamado|enviado|mandado|pedido|pagado|comprado|ayudado"
    "|reparado|arreglado|reiniciado|instalado|configurado|borrado|cambiado|revisado|probado|resuelto|corregido"
    "|creado|olvidado|prometido|confirmado|invitado|firmado|subido|desplegado|aprobado|propuesto|leído|actualizado"
)
_ITALIAN = (
    "detto|scritto|chiesto|risposto|raccontato|spiegato|chiamato|inviato|mandato|ordinato|pagato|comprato|aiutato"
    "|riparato|riavviato|installato|configurato|cancellato|modificato|controllato|verificato|provato|testato|risolto"
    "|corretto|creato|dimenticato|promesso|confermato|invitato|firmato|disdetto|caricato|approvato|proposto|notato"
    "|scoperto|letto|cambiato|aggiornato"
)
_SPANISH = (
    "dice|dijo|escribió|preguntó|respondió|contó|explicó|llamó|envió|mandó|pidió|pagó|compró|ayudó|reparó|arregló"
    "|reinició|instaló|configuró|borró|cambió|revisó|probó|resolvió|corrigió|creó|olvidó|prometió|confirmó|invitó"
    "|firmó|subió|desplegó|aprobó|propuso|leyó|actualizó|quiere|piensa|cree"
)
_PORTUGUESE = (
    "diz|disse|escreveu|perguntou|respondeu|contou|explicou|ligou|chamou|enviou|mandou|pediu|pagou|comprou|ajudou"
    "|consertou|reiniciou|instalou|configurou|apagou|mudou|verificou|testou|resolveu|corrigiu|criou|esqueceu"
    "|prometeu|confirmou|convidou|assinou|cancelou|subiu|implantou|aprovou|propôs|reparou|leu|atualizou|quer|pensa"
    "|acha"
)
_SPEECH = (
    "sagt|sagte|meint|meinte|fragt|fragte|schrieb|antwortete|bat|half|glaubt|denkt|weiß|möchte|vermutet|versprach"
    "|zegt|zei|vraagt|vroeg|schreef|belde|denkt|weet|pense|croit|sait|demande|répond|pensa|crede|vuole|chiede|disse"
)
_DEED = re.compile(
    rf",?\s(?:(?:hat|hatte|habe)\s(?:[^\s.!?;]{{1,30}}\s){{0,8}}(?:{_GERMAN})"
    rf"|(?:heeft|had)\s(?:[^\s.!?;]{{1,30}}\s){{0,8}}(?:{_DUTCH})"
    rf"|(?:l['’]a|m['’]a|nous a|vous a|a|avait)\s(?:\w{{1,12}}\s){{0,2}}(?:{_FRENCH})"
    rf"|(?:(?:lo|la|los|las|le|les|me|nos|te)\s)?(?:(?:ha|había)\s(?:{_SPANISH_PARTICIPLES})|{_SPANISH})"
    rf"|(?:(?:l['’]|lo |la |mi |ci |ti |gli )?(?:ha|aveva))\s(?:\w{{1,12}}\s){{0,2}}(?:{_ITALIAN})"
    rf"|(?:(?:já|me|nos|o|a)\s)?(?:{_PORTUGUESE})"
    rf"|{_SPEECH})(?!\w)",
    re.IGNORECASE,
)


def does_deed(text: str, end: int) -> bool:
    """Whether what ends there does something, in another language, that only people do."""
    return _DEED.match(text[end : end + MAX_DEED_CHARACTERS]) is not None
