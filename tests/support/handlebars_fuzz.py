"""Templates by chance: every construct that Tidings has, nested, with tildes and lines wherever they can stand."""

import random
from dataclasses import dataclass, field

#: Over the variables of `handlebars_cases`.
_VALUES = (
    "a",
    "name",
    "title",
    "deep.b.c",
    "nothing",
    "zero",
    "yes",
    "null",
    "lookup letters 1",
    "lookup prices key",
)
_TESTS = ("yes", "no", "zero", "nothing", "none", "letters", "empty", "(lookup letters 0)", "a")
_LISTS = ("letters", "people", "numbers", "none", "prices", "rows", "nothing", "(lookup rows 0)")
_CONTEXTS = ("deep", "prices", "nothing", "this", "people.[0]", "deep.b")
_SECTIONS = ("yes", "no", "people", "deep", "none", "nothing", "a")
_TEXTS = ("x", " ", "\n", "  \n", "\n\n", " y ", "\n  ", "z\n", "", "\t", "w.", "\r\n", "{ ", " }", "\\ ")


@dataclass
class Maker:
    """Makes templates out of one seed."""

    chance: random.Random
    #: Names that may be called here.
    partials: tuple[str, ...] = ()
    _depth: int = 0
    _names: list[str] = field(default_factory=list)

    def template(self, most: int = 6) -> str:
        return "".join(self._statement() for _ in range(self.chance.randint(1, most)))

    def _tag(self, inside: str) -> str:
        left = "~" if self.chance.random() < 0.12 else ""
        right = "~" if self.chance.random() < 0.12 else ""
        return f"{{{{{left}{inside}{right}}}}}"

    def _text(self) -> str:
        return "".join(self.chance.choice(_TEXTS) for _ in range(self.chance.randint(1, 3)))

    def _statement(self) -> str:
        kinds = [(self._text, 8), (self._value, 5), (self._comment, 2), (self._escaped, 1)]
        if self.partials:
            kinds.append((self._partial, 3))
        if self._depth < 3:
            kinds += [
                (self._condition, 4),
                (self._loop, 2),
                (self._with, 1),
                (self._section, 2),
                (self._inline, 1),
            ]
        makers = [maker for maker, _ in kinds]
        made = self.chance.choices(makers, [weight for _, weight in kinds])[0]()
        return self._text() + made if self.chance.random() < 0.3 else made

    def _value(self) -> str:
        choices = [*_VALUES, *self._names, "this.a", "@root.title", "[odd name]", "'a'"]
        return self._tag(self.chance.choice(choices))

    def _comment(self) -> str:
        return self._tag(self.chance.choice(("! c ", "!-- c }} --", "!", "! c\nd ")))

    def _escaped(self) -> str:
        return self.chance.choice(("\\{{a}}", "\\\\{{a}}", "\\\\\\{{a}}", "\\{{#if}} "))

    def _inside(self, *names: str) -> str:
        self._depth += 1
        kept = len(self._names)
        self._names += names
        made = self.template(3)
        del self._names[kept:]
        self._depth -= 1
        return made

    def _else(self, *, chain: bool = True) -> str:
        made = ""
        while chain and self.chance.random() < 0.25:
            made += self._tag(f"else if {self.chance.choice(_TESTS)}") + self._inside()
        if self.chance.random() < 0.4:
            made += self._tag(self.chance.choice(("else", "^", " else "))) + self._inside()
        return made

    def _condition(self) -> str:
        name = self.chance.choice(("if", "unless"))
        inverted = self.chance.random() < 0.2
        sign = "^" if inverted else "#"
        opening = self._tag(f"{sign}{name} {self.chance.choice(_TESTS)}")
        return opening + self._inside() + self._else(chain=not inverted) + self._tag(f"/{name}")

    def _loop(self) -> str:
        named = self.chance.random() < 0.4
        opening = self._tag(f"#each {self.chance.choice(_LISTS)}{' as |item at|' if named else ''}")
        names = (
            ("item.name", "at", "@index", "@last", "this", "../title", "@key")
            if named
            else ("this", "@first", ".")
        )
        return opening + self._inside(*names) + self._else() + self._tag("/each")

    def _with(self) -> str:
        opening = self._tag(f"#with {self.chance.choice(_CONTEXTS)}")
        return opening + self._inside("c", "./b", "tea") + self._else() + self._tag("/with")

    def _section(self) -> str:
        name = self.chance.choice(_SECTIONS)
        inverted = self.chance.random() < 0.4
        opening = self._tag(f"{'^' if inverted else '#'}{name}")
        return opening + self._inside("name", ".") + self._else(chain=not inverted) + self._tag(f"/{name}")

    def _partial(self) -> str:
        name = self.chance.choice(self.partials)
        given = self.chance.choice(("", "", "", " this", " deep", " b=a", " b='v' a=1", " deep b=title"))
        return self._tag(f"> {name}{given}")

    def _inline(self) -> str:
        name = f"in{self.chance.randint(0, 10**9)}"
        body = Maker(self.chance, _depth=2).template(3)
        text = self._tag(f'#*inline "{name}"') + body + self._tag("/inline")
        return text + self._text() + self._tag(f"> {name}")


@dataclass(frozen=True)
class Made:
    """A template between marks, which keep the blanks at its ends, and the partials it may call."""

    seed: int
    source: str
    partials: dict[str, str]


def fuzzed(seed: int) -> Made:
    """The template of a seed."""
    chance = random.Random(seed)
    first, second = f"p{seed}", f"q{seed}"
    partials = {
        first: Maker(chance, _depth=1).template(4),
        second: Maker(chance, (first,), _depth=2).template(4),
    }
    return Made(seed, f"«{Maker(chance, (first, second)).template()}»", partials)
