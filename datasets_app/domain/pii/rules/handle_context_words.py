"""The words beside a token that make it somebody's user name, and those that make it anything else.

Looked up one after another away from the token, in lower case; a start stands for all words that begin so.
"""

import re

from datasets_app.domain import lazy_re

# What a user name is called: any token with a digit or a sign in it that follows is one.
_NAMES = """
    username usernames userid userhandle uname usr ruser login logins logon loginname logname nick nicks
    nickname nicknames handle handles alias ign ingame gamertag gamertags psn xbl gt battletag screenname
    benutzername nutzername anmeldename kennung benutzerkennung pseudo pseudonyme identifiant apodo apelido
    gebruikersnaam brugernavn brukernavn användarnamn felhasználónevem felhasználónév käyttäjätunnus
    nimimerkki käyttäjätunnukseni käyttäjänimi használónevem přezdívka ник никнейм логин netid webid portalid
    loginid kundenlogin zugangskennung nutzerkennung tunnuksella summoner handelsname toon alt psnid
    membername smurf
"""
# Whose token that looks like a name is one.
_ACCOUNTS = """
    user users account accounts acct acc profile profiles profil perfil profilo profiel player players gamer
    streamer member subscriber follower followers seller buyer poster author sender moderator reporter
    reviewer uploader contributor maintainer committer commenter assignee owner friend friends opponent
    teammate konto kontos compte cuenta conta hesap hesabım tili tilini usuario usuária usuário utilisateur
    utente benutzer benutzerkonto benutzers nutzer gebruiker användare användaren bruger bruker użytkownik
    użytkownika uživatel felhasználó kullanıcı käyttäjä spieler joueur jugador jogador giocatore speler gracz
    createdby updatedby assignedto postedby submittedby fromuser touser socials social insta instagram ig
    discord skype snap snapchat sc telegram tele tg tiktok tik twitter tweet twitch xbox playstation kik venmo
    cashapp cashtag wechat signal viber line reddit subreddit fb facebook messenger mastodon fediverse bluesky
    bsky tumblr pinterest github gitlab bitbucket steam epic riot battlenet origin minecraft roblox fortnite
    nintendo youtube linkedin soundcloud spotify strava vinted depop ebay etsy airbnb duolingo patreon
    onlyfans medium quora slack teams zoom forum game games chat lobby clan guild vk weibo kakao пользователь
    аккаунт профиль телеграм телеграме инстаграм инста телега dc disc uplay ubisoft activision ea lichess
    chess wattpad deviantart letterboxd bandcamp poshmark zelle revolut revtag bunq kofi kaggle huggingface
    stackoverflow hackernews hn character guild verkäufer verkäuferin vendeur vendeuse vendedor vendedora
    venditore venditrice verkoper sprzedawca säljare säljaren sælger käufer acheteur comprador acquirente
    koper köparen leader teamleader raider leaderboard winner requester submitter recipient attendees
    participants zugang
"""
# "add jane77", "thanks jane77": what is done to people.
_ACTIONS = """
    add added adding follow followed following unfollow dm dmed dming pm message messaged messaging msg text
    ping tag tagged mention mentioned block blocked blocking unblock ban banned banning unban unbanned mute
    muted report reported reporting kick kicked invite invited friend friended befriend contact find search
    lookup look harass stalk scam accuse called named calling calls call aka thanks thank thx ty hi hello hey
    dear cc shoutout congrats welcome hola bonjour hallo salut ciao contacter agregar agrégame agregame
    añádeme sígueme ajoute ajouter ajoutez adde folge folgt chiamo heiße heisse heißt appelle llamo chamo
    aggiungimi seguimi adiciona segue meld person guy girl man woman someone somebody dude behind against
    versus vs beat named merge delete deactivate rename kicked credits credit props kudos ask asking unlock
    unlocked remove removed suspend suspended reinstate impersonating impersonates quote quoting quoted trust
    meet met np gg lol hbd xoxo bye glhf gj via courtesy ft feat heet heter agregar añade
"""
# A word between, and what has to stand before it.
LINKED_WORDS = {
    "at": "streaming stream watch found find reach live",
    "into": "log login logged get logging access",
    "by": "posted shared uploaded commented commented reviewed written reported created submitted "
    "requested invited "
    "opened closed approved assigned committed merged edited photo pic picture photos video review "
    "comment post "
    "purchased bought won accused quoted met beaten betrayed assisted helped served answered handled "
    "thread message listing sold track art mod map hosted streamed sent signed liked recommended "
    "referred banned "
    "blocked scammed harassed followed tagged owned go goes going known went commit request attempt "
    "attempts "
    "performed initiated login deleted changed modified updated added made taken started authored run",
    "from": "comment comments message messages dm dms msg request invite invitation post posts reply "
    "tweet tweets snap "
    "note gift pm heard friend name username nick handle rename renamed changed login bought purchased "
    "repost reposted greetings regards love hug "
    "password connection received review reviews traded offer offers bought stolen stole order ordered "
    "seller transfer merge move coins items",
    "for": "account password passwords reset access attempt failure failures failed session opened "
    "closed auth 2fa mfa "
    "login logins logon authentication publickey user request requested enabled disabled locked search "
    "searched searching looking lookup otp verification sudo seats unlock license access permission "
    "permissions role badge invoice profile page channel stream ban report vote votes voted",
    "to": "shoutout rename renamed renaming change changed changing username nick handle name dm message "
    "reply replied sent "
    "subscribe subscribed gift gifted password access skin coins refund traded sold forgot "
    "assigned assign reassign reassigned escalated delegated gave give gifted lent donate donated granted "
    "reached according thanks transfer transfers swap "
    "issued replying reply talking links hi belonging sold "
    "send talk talked talking transfer transferred added addressed speak belongs belong linked tied "
    "username",
    "as": "logged signed log sign logging signing in registered register listed known know online up "
    "playing streaming stream plays play played upload pretends pretend posing listed pretending "
    "posting post posts write writing appear show shows me add us on posted under",
    "under": "account registered me us look looked saved listed profile sign signed post posts name it find",
    "with": "log logged logging signing accedo entro login sign signed username account traded "
    "trading trade chat chatted chatting "
    "talked talking spoke speak speaking played playing play match matched paired linked merge shared share "
    "swapped duo dueled teamed friends",
    "of": "stream streams channel page profile account posts videos wall followers friend name username "
    "instead fan fans members",
}
_FOREIGN_AS = "mit avec con com met jako sous с под как unter als comme como come som jako как tant"
LINKED_WORDS |= dict.fromkeys(
    _FOREIGN_AS.split(),
    "anmeldung inscrit connecte sesión accedo entro log logga loggar logger zarejestrowałem loguję "
    "přihlašuji захожу "
    "registré registrato cadastrei joue gram spiele juego jogo gioco speel spelar jeg ich eingeloggt "
    "angemeldet registriert einloggen anmelden "
    "connecté connectée inscrit inscrite identifié "
    "tant conectado "
    "conectada registrado registrada agrégame búscame encuentras sesión ingelogd aangemeld geregistreerd "
    "inloggad "
    "registrerad logget zalogowany zalogowana zarejestrowany loggato registrato registrata insta discord "
    "trovi trouves trouve snap twitch findest finden такой вошел вошёл",
)
# The token is a number of an order, a machine, a file, a thing.
_COUNTERS = """
    passphrase bearer order orders booking ref reference invoice code codes promo coupon voucher ticket
    tickets case issue password pass pw pwd pin key keys token tokens model version serial sku part flight
    seat gate room file files folder table column variable var function method class package packages module
    library lib branch commit bug error errors hostname machine node nodes pod container cluster image port
    device phone chip board cpu gpu driver kernel format codec encoding protocol street road postcode license
    plate vin passport number no nr route bus train parcel tracking shipment product item size color volume
    disk partition interface field parameter param argument option flag setting type job task queue topic
    bucket database schema index view script command endpoint url domain movie song album brand company firm
    transaction payment iban swift hash checksum sha md5 uuid bestellung bestellnummer commande pedido ordine
    rechnung facture kennwort passwort contraseña senha hasło wachtwoord dataset repo repository tool language
    framework chipset sensor build release workflow runner action actions firmware dependency string constant
    enum attribute property element unit exam agent input server network project event company website site
    channel bot stop start install recipe formula gene protein compound sample batch config
"""
NAMES = frozenset(_NAMES.split())
ACCOUNTS = frozenset(_ACCOUNTS.split()) | NAMES
ACTIONS = frozenset(_ACTIONS.split())
OWNED = frozenset("account acc acct profile handle username konto compte cuenta conta".split())
COUNTERS = frozenset(_COUNTERS.split())
# Sequences of words of which the last may be anything.
PHRASES = lazy_re.compile(
    r"(?:t[êe]n (?:đăng nhập|người dùng)|nama pengguna|имя пользователя|nom d['’ ]?utilisateur"
    r"|nombre de usuario"
    r"|nome (?:utente|de usu[áa]rio)|nazwa użytkownika|kullanıcı ad[ıi]m?|uživatelské jméno|screen[ _-]?name"
    r"|(?:on|under|with|by|use|using|has|have|got|took|chose|picked|keep) the (?:user )?name|same name"
    r"|\b(?:user|account|player|member|profile)s? (?:not found|unknown|does not exist|locked|blocked"
    r"|banned|created|deleted|added|removed|updated|suspended)"
    r"|\b(?:order|booking|account|profile|reservation|it)(?: is|['’]s| was) under"
    r"|\b(?:zelle|paypal|cash ?app|venmo|revolut|main|alt|fake one)(?: name| id| tag| user)?(?: is"
    r"|['’]s)|my @(?: is|:)?|\b(?:h/t|ft\.|sign[- ]?in name|member name)"
    r"|\b(?:alte[rn]?|neue[rn]?|früherer|ancien|nouveau|vecchio|nuovo|antiguo|anterior|old|previous"
    r"|former|new) (?:nick)?(?:name|nom|nombre|nome) (?:war|ist|était|est|era|es|è|is|was)"
    r"|my (?:agent|advisor|rep) (?:was|is)|[ei]tsy shop|\bchess\.com name"
    r"|(?:my|his|her|their|twitch|youtube) (?:channel|page|stream|id)|socials?|a\.k\.a\.|sudo:"
    r"|same name (?:everywhere|on everything)"
    r"|\b(?:on|at) x,? (?:i['’]?m|i am|as|my name is|it['’]?s|:))[ \t]{0,2}(?:is|est|es|è"
    r"|to|je)?[ \t:=]{0,3}\Z",
    re.IGNORECASE,
)
# What begins like "python3", "web2", "step4" or "user1" is of no one.
_THINGS = """
    tmp temp foo bar baz base sha utf float double python numpy pandas node nodejs java openjdk ruby perl rust
    swift kotlin scala vue react angular http https oauth ipv wifi wlan nvme sata step item items page line
    lines chapter section version room gate seat flight error code test tests testing prod staging stage
    server host cache queue worker cluster disk volume zone region bucket table index field value option
    answer question part level phase week month year round team group type class model plan tier basic premium
    covid formula iphone ipad galaxy pixel windows macos android chrome firefox safari xbox playstation claude
    llama gemini mistral cuda opengl vulkan directx radeon ryzen intel core bash mysql postgres postgresql
    sqlite redis nginx kafka docker kube kubernetes ubuntu debian fedora boto atmega attiny passphrase uint
    sensor port user player customer client agent admin guest example sample demo foo bar foobar dummy func
    file image photo video track disc volume unit room door pump valve motor axis input output param arg args
    temp data batch run epoch layer conv dense block branch commit ticket issue build release draft final copy
    backup match game season episode case order invoice ref terminal platform track lane route road street
    apartment suite floor web gpt sda sdb eth ram cpu gpu usb hdd ssd pci tcp udp dns ssh ftp sql rfc iso din
    html css xml json yaml api app bot dev ltd inc llc gmbh mac win ios osx vpn lte mysqld passkey paypal
    orders config conf home int valid request response update report launch event project product server
    version windows office excel word photoshop battlefield halo civ fifa doom quake
"""
_THINGS += " support help service sales info contact billing office wallet address"
THINGS = frozenset(_THINGS.split())
