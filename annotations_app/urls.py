from django.urls import path

from annotations_app.labeling.views import campaigns, decisions, queue, replies

app_name = "annotate"

urlpatterns = [
    path("", campaigns.campaigns, name="campaigns"),
    path("<str:name>/", queue.queue, name="queue"),
    path("<str:name>/next/", queue.upcoming, name="next"),
    path("<str:name>/decide/", decisions.decide, name="decide"),
    path("<str:name>/replies/<int:pk>/", replies.reply, name="reply"),
    path("<str:name>/replies/<int:pk>/turns/", replies.turns, name="turns"),
    path("<str:name>/replies/<int:pk>/turns/<int:turn_index>/", replies.whole_turn, name="whole_turn"),
]
