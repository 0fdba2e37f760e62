from django.urls import path

from annotations_app.labeling.views import campaigns, decisions, queue, replies

app_name = "annotate"

urlpatterns = [
    path("", campaigns.list_campaigns, name="campaigns"),
    path("<str:name>/", queue.show_queue, name="queue"),
    path("<str:name>/lease/", queue.lease, name="lease"),
    path("<str:name>/decide/", decisions.decide, name="decide"),
    path("<str:name>/replies/<int:pk>/", replies.show_reply, name="reply"),
    path("<str:name>/replies/<int:pk>/turns/", replies.show_turns, name="turns"),
    path("<str:name>/replies/<int:pk>/turns/<int:turn_index>/", replies.show_whole_turn, name="whole_turn"),
]
