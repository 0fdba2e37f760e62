from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from datasets_app.views import download

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("files/<int:pk>/", download, name="download"),
]
