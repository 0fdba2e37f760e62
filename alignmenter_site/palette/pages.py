from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from alignmenter_site.palette.results import find_results


@require_safe
def search(request: HttpRequest) -> JsonResponse:
    """``{"results": [{"group", "title", "url", "detail", "icon"}]}`` for ``?q=``, in the order shown."""
    results = find_results(request, request.GET.get("q", ""))
    return JsonResponse({"results": [result._asdict() for result in results]})
