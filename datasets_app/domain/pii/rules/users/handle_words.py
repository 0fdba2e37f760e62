"""Words behind an @ that name nobody: annotations, style rules, groups, units."""

# Decorators, annotations, style rules and documentation tags, in lower case.
_CODE_TEXT = """
    moduledoc spec doc inline tailrec freezed immutable impl callback typedoc property staticmethod
    classmethod abstractmethod cached_property lru_cache dataclass dataclasses wraps contextmanager overload
    singledispatch cache total_ordering atexit asynccontextmanager pytest fixture parametrize mock patch app
    router api click task shared_task receiver register login_required csrf_exempt require_post transaction
    admin given settings example composite hookimpl validator field_validator model_validator root_validator
    jit njit tf torch no_grad numba ray flow dag asset op job celery override test before after beforeeach
    aftereach beforeclass afterclass beforeall afterall parameterizedtest autowired bean component service
    repository controller restcontroller requestmapping getmapping postmapping putmapping deletemapping
    patchmapping requestbody responsebody requestparam pathvariable springbootapplication springboottest
    configuration value qualifier primary scope transactional entity table column id generatedvalue onetomany
    manytoone manytomany onetoone joincolumn enumerated embedded version notnull nullable nonnull notblank
    notempty size min max valid jsonproperty jsonignore jsoninclude builder data getter setter
    noargsconstructor allargsconstructor requiredargsconstructor slf4j log suppresswarnings safevarargs
    functionalinterface deprecated documented inherited retention target repeatable async scheduled
    enablescheduling enablecaching cacheable profile conditionalonproperty import lazy order postconstruct
    predestroy inject provides module named singleton injectmocks spy captor query mutation subscription
    namedquery modifying param params entitygraph kafkalistener rabbitlistener eventlistener aspect around
    pointcut joinpoint rest path get post put delete head options consumes produces queryparam pathparam
    formparam headerparam context jvmstatic jvmoverloads jvmfield throws serializable parcelize composable
    preview binding state stateobject observedobject environmentobject environment published main mainactor
    objc escaping available discardableresult viewbuilder nonobjc iboutlet ibaction ibinspectable ibdesignable
    uiapplicationmain testable frozen unknown autoclosure sendable interface implementation end protocol
    selector synthesize dynamic try catch finally throw synchronized autoreleasepool encode optional required
    package class private protected public injectable ngmodule directive pipe input output hostlistener
    hostbinding viewchild viewchildren contentchild contentchildren body req res query session headers ip next
    options usepipes useguards useinterceptors prop watch emit ref model vuex action mutation-action observer
    observable computed tracked media imports font-face keyframes supports charset layer apply tailwind
    include mixin extend extends use forward function return returns if else elseif each for while debug warn
    error content at-root counter-style namespace page viewport document container starting-style theme
    utility variant screen config plugin source custom-media property-list color-profile scroll-timeline type
    types typedef typeparam template callback arg args argument author authors since see link linkplain code
    literal exception inheritdoc serial todo fixme note brief details file license license-text copyright
    throws memberof mixes module name namespace private access alias async augments borrows constant
    constructs default description enum event fires generator hideconstructor ignore inner instance kind lends
    listens mixin override readonly static summary this tutorial variation yields internal hidden group
    category remarks privateremarks public-api beta alpha experimental sealed virtual eventproperty
    packagedocumentation ts-ignore ts-expect-error ts-nocheck ts-check jsx jsximportsource flow noflow format
    prettier eslint-disable pre post invariant section yield endsection endif endforeach foreach forelse empty
    csrf method guest auth php json extends stack push once verbatim isset endisset slot props livewire
    stylescripts vite using inject model page layout html addtaghelper removetaghelper rendersection
    renderbody implements attribute inherits code functions context graph id type vocab base language
    container list set reverse index version reboot yearly annually monthly weekly daily hourly midnight echo
    off rem argv inc isa export export_ok _ rowcount identity error fetch_status trancount spid href src class
    lang title rel alt data-id requires raises validate_arguments fileoverview overview preserve internal
    custom-variant availability noreturn contextlib functools typing abc nx np pd plt sa mapped
    hybrid_property listens_for compiles measure timeit profile latest canary nightly stable rc beta dev
    current head row rows items item vars upstream push origin csvsource methodsource valuesource
    configurationproperties
"""
CODE_WORDS = frozenset(_CODE_TEXT.split())

# Groups, places, times and stand-ins, in lower case.
_GROUP_TEXT = """
    here channel everyone all team anyone anybody everybody someone somebody admins mods moderators user users
    username user_name your_username yourusername your_handle yourhandle handle mention name nickname someuser
    somebody_else person example you me us them him her it this that the a an my your our their home work
    school office uni university college church gym bar pub club hotel airport station hospital night noon
    midnight morning evening lunch dinner breakfast today tomorrow tonight yesterday now later once least most
    first last worst best any some which what where when who how sign symbol mention mentions gmail yahoo
    hotmail outlook icloud aol email mail dependabot codecov coderabbitai greenkeeper infra oncall ss sshole
    nd nyone nything ssholes
"""
GROUP_WORDS = frozenset(_GROUP_TEXT.split())
UNITS = frozenset(
    "am pm a p ish oclock h hr hrs min mins s sec ms fps hz khz mhz ghz p i k m b kb mb gb tb px x st nd rd "
    "th d w wk yr y km kmh mph kg lb lbs g oz ml l cm mm in ft v mv ma mah w kw kwh c f usd eur gbp inr pcs "
    "pc ea each".split()
)
