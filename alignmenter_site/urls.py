from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView

from alignmenter_site.api import assembly, reference
from alignmenter_site.help import pages as help_pages
from alignmenter_site.palette import pages as palette_pages
from alignmenter_site.sign_in import token_views, views
from datasets_app.downloads import download_job_file, download_release
from datasets_app.notifications import pages as notifications
from datasets_app.sources.receiver_pages import receive_traces

admin.autodiscover()
# The queue's own pages show what the queue remembers, which is not what ran: the job pages do.
admin.site.unregister(apps.get_model("django_rq", "Dashboard"))
# Second factors and sessions belong to their people; administrators manage them on the pages of users.
for _app in ("account", "mfa", "socialaccount", "usersessions"):
    for _model in apps.get_app_config(_app).get_models():
        if admin.site.is_registered(_model):
            admin.site.unregister(_model)

handler500 = "alignmenter_site.error_pages.server_error"


def reject_view_on_site(request: HttpRequest, **_: Any) -> HttpResponse:
    """The framework would look for the page of any row on a site beside the admin; there is none."""
    raise Http404


urlpatterns = [
    path("", views.home, name="home"),
    path("", include("alignmenter_site.sign_in.urls")),
    path("api/v1/", reference.show_reference, name="api_reference"),
    path("api/v1/openapi.json", reference.send_schema, name="api_schema"),
    path("api/v1/", include((assembly.build_urls(), "api"))),
    path("tokens/", token_views.own_tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_views.revoke, name="revoke_token"),
    # Open to all accounts (middleware/staff_only.py).
    path("notifications/", notifications.list_notifications, name="notifications"),
    path("notifications/bell/", notifications.show_bell, name="notifications_bell"),
    path("notifications/read/", notifications.mark_read, name="notifications_read"),
    path("notifications/settings/", notifications.notification_settings, name="notification_settings"),
    path("notifications/<int:pk>/", notifications.open_notification, name="notification_open"),
    path("help/", help_pages.show_page, name="help"),
    path("help/search/", help_pages.search, name="help_search"),
    path("help/pictures/<path:path>", help_pages.show_picture, name="help_picture"),
    path("help/<path:page>/", help_pages.show_page, name="help_page"),
    path("v1/traces", receive_traces, name="receive_traces"),
    path("annotate/", include("annotations_app.urls")),
    path("admin/login/", views.redirect_to_sign_in),
    path("admin/logout/", views.log_out),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password_change")),
    path("admin/r/<int:content_type_id>/<path:object_id>/", reject_view_on_site),
    path("admin/palette/", admin.site.admin_view(palette_pages.search), name="palette"),
    path("admin/", admin.site.urls),
    path("files/<int:pk>/", download_job_file, name="download"),
    path("files/releases/<int:pk>/", download_release, name="download_release"),
]
