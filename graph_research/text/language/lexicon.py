"""Closed lists of English words: function words, auxiliaries and verbs; no inflection."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text in order; a list of words is easier to read and to edit as a text."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")

AUXILIARIES = word_set(
    "am is are was were be been being has have had having do does did doing done can could will would shall should "
    "may might must cannot isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't can't couldn't "
    "won't wouldn't shouldn't mustn't"
)

FUNCTION_WORDS = AUXILIARIES | word_set(
    "a an the this that these those some any each every either neither no none all both half several many much more "
    "most few fewer less least other others another such same own only very too so than then there here again also "
    "i me my mine we us our ours you your yours he him his she her hers it its they them their theirs one ones oneself "
    "myself yourself himself herself itself ourselves yourselves themselves who whom whose which what when where why "
    "how whether if because as until while of at by for with about against between among into through during before "
    "after above below to from up down in out on off over under further once and but or nor not just now still yet "
    "ever never even however therefore thus hence otherwise instead rather quite almost nearly perhaps maybe per via "
    "within without upon across along around behind beside besides beyond despite except inside outside near onto "
    "since toward towards unless unlike whereas whereby wherever whenever although though etc e.g i.e vs ok "
    "something anything nothing everything someone anyone everyone nobody somebody anybody everybody way ways "
    "kind kinds sort lot lots thing things well away ago soon later already often usually sometimes always mostly "
    "mainly especially particularly generally currently recently actually really simply possibly probably likely"
)

VERBS = word_set(
    "affect affects affected allow allows allowed apply applies applied arise ask asks asked be become becomes "
    "became begin begins began begun behave behaves bring brings brought build builds built call calls called "
    "carry carries carried cause causes caused change changes changed come comes came compare compares compared "
    "consider considers consist consists contain contains contained contribute contributes cover covers create "
    "creates created deal deals decide decides define defines defined deliver delivers delivered depend depends "
    "describe describes described determine determines differ differs discuss discusses do does end ends ensure "
    "ensures exist exists expect expects expected explain explains explained fall falls fell feel find finds "
    "found follow follows followed gain gains generate generates generated get gets got give gives gave given go "
    "goes went grow grows grew handle handles handled happen happens happened help helps helped hold holds held "
    "impact improve improves include includes included increase increases increased influence influences involve "
    "involves keep keeps kept know knows known lead leads led leave leaves left let lets lie lies like look looks "
    "lose loses lost make makes made manage manages mean means meant meet meets met need needs needed occur "
    "occurs occurred offer offers open opens opened operate operates operated owe pay pays paid perform performs "
    "play plays prevent prevents produce produces produced propose proposes proposed protect protects prove "
    "proves provide provides provided put puts raise raises raised reach reaches reached receive receives "
    "received reduce reduces reduced relate relates remain remains remained require requires required result "
    "resulted rise rises rose run runs ran say says said see sees saw seen seem seems serve serves show shows "
    "showed shown stand stands stood start starts started stay stays stop stops stopped supply supplies supplied "
    "support supports take takes took taken tell tells told think thinks thought treat treats turn turns turned "
    "understand use uses used using vary varies want wants work works worked write writes wrote written yield "
    "yields yielded cost costs spend spends spent employ employs weigh weighs rule rules sell sells sold buy buys "
    "bought win wins won cut cuts fail fails failed kill kills killed die dies died rest rests hit hits lay lays "
    "laid close closes closed introduce introduces introduced invent invents invented discover discovers "
    "discovered launch launches launched read reads parse parses parsed imported install installs installed "
    "calculate calculates calculated choose chooses chose chosen learn learns learned teach teaches taught eat "
    "eats live lived travel travels returns returned accept accepts accepted add adds added remove removes "
    "removed reject rejects rejected believe believes believed claimed argue argues argued suggest suggests "
    "suggested reported appear appears appeared publish publishes published announce announces announced replace "
    "replaces replaced represent represents represented send sends sent speak speaks fit fits measured observe "
    "observes observed establish establishes established develop develops developed designed express implement "
    "implements implemented"
)
