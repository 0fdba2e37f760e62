"""What addresses of the web call people, their pages, and pages that belong to no one."""

from datasets_app.domain.pii.word_lists import read_word_lists

_WORDS = read_word_lists(__file__)
PEOPLE = _WORDS["people"]
FOREIGN_PEOPLE = _WORDS["foreign people"]
PLACES_OF_PEOPLE = _WORDS["places of people"]
VERBS = _WORDS["verbs"]
PAGES = _WORDS["pages"]
PUBLIC_FOLDERS = _WORDS["public folders"]
DOCUMENT_WORDS = _WORDS["document words"]
DOMAINS_OF_PEOPLE = _WORDS["domains of people"]
DOMAINS_OF_PROJECTS = _WORDS["domains of projects"]
SITES_OF_PEOPLE = _WORDS["sites of people"]
USER_KEYS = _WORDS["user keys"]
# Their numbers are people's, too.
NUMBERED_KEYS = USER_KEYS - {"hint", "who", "login", "loginhint"}
END_KEYS = _WORDS["end keys"]
NAME_KEYS = _WORDS["name keys"]
PLACE_STARTS = _WORDS["place starts"]
PLACE_ENDS = _WORDS["place ends"]
SUBJECT_KEYS = _WORDS["subject keys"]
