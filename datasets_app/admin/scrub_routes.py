"""The addresses of pages about scrubs, and of what people keep and correct: (route, view, name)."""

from datasets_app.core.web.model_admin import Pages
from datasets_app.scrubbing import audit_pages, exception_pages, mark_pages, term_pages
from datasets_app.scrubbing import pages as scrub_pages

SCRUB_PAGES: Pages = [
    ("terms/", term_pages.terms, "terms"),
    ("terms/<int:mark_pk>/remove/", term_pages.remove_term, "remove_term"),
    ("<int:pk>/scrub/", scrub_pages.scrub, "scrub"),
    ("<int:pk>/scrub/progress/", scrub_pages.progress, "scrub_progress"),
    ("<int:pk>/scrub/audit/", audit_pages.scrub_audit, "scrub_audit"),
    ("<int:pk>/scrub/canary/", scrub_pages.start_measurement, "canary"),
    ("<int:pk>/scrub/exempt/", exception_pages.exempt, "exempt"),
    ("<int:pk>/scrub/terms/", term_pages.keep_terms, "keep_terms"),
    ("<int:pk>/scrub/proposals/", term_pages.decide_proposal, "decide_proposal"),
    ("<int:pk>/scrub/proposals/rest/", term_pages.scrub_proposals, "scrub_proposals"),
    ("<int:pk>/attest/", exception_pages.attest, "attest"),
    ("<int:pk>/scrub/not-personal/", mark_pages.mark_not_personal, "mark_not_personal"),
    ("<int:pk>/scrub/keep/", mark_pages.keep_values, "keep_values"),
    ("<int:pk>/scrub/missed/", mark_pages.mark_missed, "mark_missed"),
    ("<int:pk>/scrub/marks/<int:mark_pk>/", mark_pages.remove_mark, "mark_take_back"),
]
