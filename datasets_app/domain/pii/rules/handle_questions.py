"""Questions for a user name, in the words of those who help."""

import re

from datasets_app.domain import lazy_re

HANDLE_QUESTION = lazy_re.compile(
    r"\b(?:your|ur|yr|which|what(?:'s| is| was)?(?: the)?|under what|a|the|whose|his|her|their|old"
    r"|new) (?:\w+ ){0,2}?"
    r"(?:user ?-?names?|user ?id|handle|gamer ?tag|screen ?name|nick(?:name)?|ign|battle ?tag"
    r"|log-?in(?: name| id)?|account name|profile name|player name|display name|forum name|character name"
    r"|(?:discord|insta(?:gram)?|twitter|telegram|snap(?:chat)?|skype|tik ?tok|reddit|psn|xbox|steam"
    r"|github|bluesky|mastodon|twitch|venmo|wechat|kik|youtube)"
    r"(?: (?:handle|name|tag|user ?name|account|id))?)\b(?! (?:page|screen|issue|problem|error|app"
    r"|working|date|time))"
    r"|\b(?:and|what about|how about) (?:on |your )?(?:discord|insta(?:gram)?|twitter|telegram"
    r"|snap(?:chat)?|skype|tik ?tok|reddit|psn|xbox|steam|twitch)\b"
    r"|\bwhat (?:\w+ ){0,2}name (?:do|did|are|were|have) you\b.{0,30}\b(?:log|sign|regist|use|play"
    r"|post|go|under|with)"
    r"|\b(?:log|sign)(?:ged|ging|ed|ing|s)? ?(?:in|on|up)? (?:as|with|under)\b|\bunder (?:what"
    r"|which) name\b"
    r"|\bwho are you on\b|\bgo by on\b|\bwhere can (?:i|we) (?:find|follow|add) you\b|\bknown as on\b"
    r"|benutzername|nutzername|\bdein nick|anmeldename|nom d['’]utilisateur|\bidentifiant"
    r"|\bpseudo(?:nyme)?\b"
    r"|nombre de usuario|\b(?:tu|su) usuario\b|nome utente|nome de usu|\bseu usuário|gebruikersnaam"
    r"|brugernavn|brukernavn"
    r"|användarnamn|nazw[aęy] użytkownika|\bkullanıcı ad|käyttäjä(?:tunnus|nimi)|felhasználónev"
    r"|uživatelské jméno|\bлогин|\bник(?:нейм)?\b|имя пользователя|ユーザー?(?:名|ID)"
    r"|用户名|用戶名|아이디|닉네임|사용자 ?(?:이름|명)",
    re.IGNORECASE,
)
# For a user name or anything else: who did it, which account.
LOOSE_HANDLE_QUESTION = lazy_re.compile(
    r"\b(?:user ?name|gamer ?tag|nick(?:name)?|handle|screen ?name|log ?-?in|tag|insta(?:gram)?|ig"
    r"|snap(?:chat)?|discord"
    r"|telegram|twitter|tiktok|steam|psn|accounts?|profiles?|users?|players?|sellers?|buyers?"
    r"|members?|friend|streamer)\b"
    r"|\b(?:sign|log)(?:ged|ned)? ?(?:in|up)\b|\b(?:call|address) you\b|\byou(?:['’]re"
    r"| are)? (?:called|known)\b"
    r"|\b(?:who|whom) (?:did|reported|sent|posted|uploaded|shared|wrote|scam\w*|banned|kicked"
    r"|invited|added|blocked|stole|hacked"
    r"|told|owns|harass\w*|should (?:we|i)|shall (?:we|i)|can (?:we|i)|is the (?:owner|author|sender"
    r"|admin)|referred|should|is \w{3,12}ing you)\b|\bgo by\b|\byour id\b"
    r"|\b(?:konto|account|nutzer|spieler|login|namen?|nick|insta|compte|pseudo|joueur|usuario|cuenta"
    r"|jugador|utente|usuário"
    r"|conta|gebruiker|użytkownik|användarnamn|käyttäjä)\b|ник|логин|аккаунт|账号|用户|アカウント|아이디|계정",
    re.IGNORECASE,
)
