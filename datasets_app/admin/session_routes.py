"""The addresses of pages about the sessions and turns of a dataset: (route, view, name)."""

from datasets_app.browsing import chart_pages, comment_pages, selection_pages, views_pages
from datasets_app.browsing import pages as browsing_pages
from datasets_app.core.web.model_admin import Pages
from datasets_app.exporting import sample_pages

SESSION_PAGES: Pages = [
    ("<int:pk>/sessions/", browsing_pages.sessions, "sessions"),
    ("<int:pk>/sessions/facets/", browsing_pages.facets, "session_facets"),
    ("<int:pk>/charts/", chart_pages.charts, "charts"),
    ("tags/", chart_pages.known_tags, "known_tags"),
    ("<int:pk>/sessions/change/", selection_pages.change, "change_sessions"),
    ("<int:pk>/<slug:page>/select/", selection_pages.select, "select"),
    ("<int:pk>/sessions/selected/<int:selection_pk>/", selection_pages.selection, "selection"),
    ("<int:pk>/<slug:page>/views/", views_pages.save_view, "save_view"),
    ("<int:pk>/views/<int:view_pk>/delete/", views_pages.delete_view, "delete_view"),
    ("<int:pk>/sessions/<int:session_pk>/comment/", comment_pages.comment, "comment"),
    ("<int:pk>/comments/<int:comment_pk>/delete/", comment_pages.remove_comment, "delete_comment"),
    ("<int:pk>/sample/", sample_pages.sample, "sample"),
]
