"""What addresses of the web call people, their pages, and pages that belong to no one."""

from datasets_app.domain.pii.rules.cue_words import make_words

# Behind one of these folders stands somebody's name or number.
PEOPLE = make_words("""
    user users u usr uid profile profiles people person persons member members customer customers client
    clients patient patients employee employees student students account accounts author authors contact
    contacts candidate candidates subscriber subscribers staff guest guests owner owners attendee attendees
    applicant applicants agent agents driver drivers player players by-email my-account myaccount mrn closet
    athlete athletes freelancer freelancers seller sellers @
""")
# Pages in other languages have names that no dictionary of ours knows: only what looks like a person counts.
FOREIGN_PEOPLE = make_words("""
    benutzer mitglied mitglieder profil kunde kunden konto utilisateur utilisateurs membre membres compte
    usuario usuarios usuário usuários perfil perfiles perfis utente utenti profilo gebruiker gebruikers
    profiel uzytkownik użytkownik användare bruger bruker kullanici kullanıcı käyttäjä felhasznalo uzivatel
""")
# Behind one of these, a name is somebody's, but a number or any other word may be anything.
PLACES_OF_PEOPLE = make_words("""
    team teams speaker speakers doctor doctors physician physicians nurse provider providers tutor trainer
    coach therapist lawyer attorney realtor agent wishlist wishlists registry invite invites invitation
    refer referral friend friends follower followers following dm chat chats message messages with by
    vendor vendors shop shops store creator creators artist artists streamer host hosts resume resumes cv
    portfolio portfolios gallery galleries album albums photos personal home homes feed timeline card cards
    rsvp wedding weddings obituary obituaries memorial name names folder folders uploads upload files file
    documents docs invoices contracts claims case cases alumni faculty directory leaders
""")
# Words between such a folder and the name: /users/show/48213.
VERBS = make_words("show view id user-id userid viewprofilepage viewprofile detail details find by-id go")
PAGES = make_words("""
    login logout signin signup sign-in sign-up sign_in sign_up register registration new me self edit update
    delete create add remove list search all index settings profile password reset forgot recover verify
    confirm activate help faq docs doc guide guides quickstart quick-start tutorial tutorials overview about
    home dashboard invite invites invitations roles groups permissions current online count export import
    bulk batch active inactive pending top popular featured v1 v2 v3 api faqs manage manager management
    admin preferences notifications billing orders subscriptions security token tokens sessions page pages
    default example sample demo stats statistics reports report
""")
# What is said of people there is public: an encyclopedia, a shop's books, the news.
PUBLIC_FOLDERS = make_words("""
    wiki tag tags topic topics category categories title titles film films movie movies book books song
    songs lyrics music news sport sports politics article articles biography search blog questions
""")
# Behind a name in a file's name: jane_roe_passport.jpg.
DOCUMENT_WORDS = make_words("""
    passport cv resume id license invoice contract lease scan photo photos picture portrait wedding
    birthday obituary taxes tax statement letter certificate signature selfie profile page blog jr sr md phd
    dr mr mrs ms prof
""")
# Sites on which each person with an account has a subdomain: jane.wordpress.com.
DOMAINS_OF_PEOPLE = make_words("""
    wordpress.com blogspot.com tumblr.com substack.com deviantart.com
    livejournal.com bandcamp.com carrd.co neocities.org weebly.com wixsite.com itch.io typepad.com
    medium.com gumroad.com myportfolio.com smugmug.com webs.com over-blog.com canalblog.com
    jimdosite.com jimdofree.com mystrikingly.com contently.com journoportfolio.com
""")
# Of projects and shops, too.
DOMAINS_OF_PROJECTS = make_words(
    "github.io gitlab.io myshopify.com bigcartel.com pages.dev netlify.app vercel.app"
)
# There, the first folder is somebody's name.
SITES_OF_PEOPLE = make_words("""
    calendly.com cal.com fiverr.com depop.com buymeacoffee.com gab.com polarsteps.com savvycal.com
    tidycal.com zcal.co untappd.com beacons.ai bio.link lnk.bio allmylinks.com about.me mixcloud.com
    tellonym.me ngl.link curiouscat.me hackerone.com hashnode.com dev.to producthunt.com wattpad.com
    500px.com unsplash.com vsco.co pinboard.in peerlist.io read.cv polywork.com cameo.com
""")
# Keys of parameters, besides those of JSON objects, whose value is a user name.
USER_KEYS = make_words("""
    user u usr uname member customer client author owner account acct acc login loginhint hint
    cust invitedby inviter invitee referredby sharer sharedby seller buyer follower friend who patient
    student employee assignee reporter uid profile mid recipient sender
""")
# Their numbers are people's, too.
NUMBERED_KEYS = USER_KEYS - make_words("hint who login loginhint")
# Of a mail, or of a journey.
END_KEYS = make_words("to from for")
# A name there is a person's; any other word is none.
NAME_KEYS = make_words("""
    name n fname lname fn ln first last person contact recipient sender guest host by of with ref referrer
    inviter invitedby sharer hint
""")
# Cities and streets have names of people.
PLACE_STARTS = make_words("san santa santo saint st mount lake fort port el los las costa sierra")
PLACE_ENDS = make_words("carolina dakota virginia georgia florida louisiana jersey mexico france spain italy")
# What is looked for, or what something is called.
SUBJECT_KEYS = make_words("q query search keyword keywords k s title artist topic tag category term text p")
