"""What must hold before a dataset is shared, as a page."""

from django.http import HttpRequest, HttpResponse

from datasets_app.admin.dataset_pages import dataset_page
from datasets_app.admin.pages import visible_dataset
from datasets_app.operations.sharing_list import YES, sharing_list


def sharing(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = visible_dataset(request, pk)
    items = sharing_list(dataset)
    context = {"items": items, "held": sum(item.answer == YES for item in items)}
    return dataset_page(request, dataset, "sharing", "Sharing", context)
