"""What is known of HTML's tags, and of the names that page authors give to what is not the page's content."""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Tags whose content no reader sees as text, or above it, such as how a word is pronounced.
DROPPED_TAGS = _names(
    "script style template noscript head iframe object svg canvas video audio textarea title rp rt rtc"
)
# Tags that start and end a line of their own; all others leave the words around them joined.
BLOCK_TAGS = _names(
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p "
    "pre search section select summary table tbody td tfoot th thead tr ul xmp"
)

# Tags within a line that tell nothing here.
INLINE_TAGS = _names(
    "abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u "
    "var"
)
# Tags and roles of what surrounds the content: navigation, banners, forms.
FURNITURE_TAGS = _names("nav footer aside form button select dialog menu address search")
FURNITURE_ROLES = _names(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar directory"
)
# Words in a class or id that say so, where the tag is one of NAMED_TAGS.
FURNITURE_WORDS = _names(
    "nav navbar navheader navfooter navigation menu breadcrumb breadcrumbs sidebar footer cookie cookies consent gdpr "
    "newsletter subscribe share sharing social related advert advertisement ad ads promo sponsor sponsored popup "
    "modal skip toc toctree pagination pager masthead byline dateline localtoc"
)
NAMED_TAGS = _names("div section ul ol p table header hgroup dl details")
# For counting how deep a page nests: tags without an end, and tags that the next of their kind ends.
VOID_TAGS = _names("area base br col embed hr img input link meta source track wbr")
IMPLIED_TAGS = _names("html head body p li dt dd td th tr thead tbody tfoot option optgroup colgroup rt rp")
FORMATTING_TAGS = _names("b big code em font i s small strike strong tt u nobr")
# Tags whose content is not tokenized as markup.
RAW_TAGS = _names("script style title textarea noscript iframe xmp noembed noframes")
