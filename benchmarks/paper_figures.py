"""Every figure of the paper's tables, by table and row of `benchmarks.paper_tables`.

A number is what the paper prints; a pair is its mean and sample standard deviation over seeds. Times are minutes or
seconds as the paper gives them. Labels in the comments are those of the paper's LaTeX source. Figures that the paper
shows as curves only (sample sizes) have no numbers.
"""

Figure = float | tuple[float, float]


def _rows(metrics: str, rows: dict[str, tuple[Figure, ...]]) -> dict[str, dict[str, Figure]]:
    """Rows of values, each named by the metric in its place."""
    names = metrics.split()
    return {row: dict(zip(names, values, strict=True)) for row, values in rows.items()}


# tab:ccs-full-dag; sinks in percent: tab:ccs-ablation (a)
CCS = _rows(
    "a_top f1 shd sinks",
    {
        "Poi, constant": ((0.915, 0.022), (0.883, 0.037), (31.5, 9.4), 68.3),
        "Poi, CCS": ((0.931, 0.017), (0.892, 0.034), (28.9, 8.7), 81.7),
        "NB, constant": ((0.907, 0.019), (0.763, 0.070), (57.9, 15.5), 73.3),
        "NB, CCS": ((0.931, 0.017), (0.792, 0.066), (51.2, 15.4), 93.3),
        "Bin, constant": ((0.899, 0.028), (0.884, 0.027), (30.8, 7.7), 80.0),
        "Bin, CCS": ((0.901, 0.027), (0.877, 0.031), (32.3, 8.4), 83.3),
    },
)

# tab:parent-selection-sensitivity
THRESHOLDS = _rows(
    "f1 precision recall",
    {
        "Poi, 2, 1": (0.877, 0.934, 0.827),
        "Poi, 2, 2/3": (0.891, 0.898, 0.884),
        "Poi, 1, 1": (0.900, 0.898, 0.901),
        "Poi, 1, 2/3": (0.800, 0.709, 0.917),
        "NB, 2, 1": (0.797, 0.917, 0.708),
        "NB, 2, 2/3": (0.870, 0.898, 0.845),
        "NB, 1, 1": (0.866, 0.892, 0.843),
        "NB, 1, 2/3": (0.813, 0.735, 0.910),
        "Bin, 2, 1": (0.878, 0.943, 0.821),
        "Bin, 2, 2/3": (0.890, 0.895, 0.885),
        "Bin, 1, 1": (0.896, 0.906, 0.885),
        "Bin, 1, 2/3": (0.809, 0.732, 0.907),
    },
)

# tab:parent-method-comparison (its F1 of the estimated order also in tab:parent-methods-main (b))
SELECTORS = _rows(
    "f1 shd",
    {
        "Poi, true, OCS": (0.878, 30.8),
        "Poi, true, CAM": (0.989, 3.2),
        "Poi, true, PCM-GAM": (0.839, 54.1),
        "Poi, estimated, OCS": (0.858, 37.2),
        "Poi, estimated, CAM": (0.850, 46.3),
        "Poi, estimated, PCM-GAM": (0.712, 105.6),
        "NB, true, OCS": (0.780, 50.5),
        "NB, true, CAM": (0.959, 12.1),
        "NB, true, PCM-GAM": (0.832, 56.3),
        "NB, estimated, OCS": (0.751, 59.2),
        "NB, estimated, CAM": (0.823, 54.9),
        "NB, estimated, PCM-GAM": (0.703, 108.3),
        "Bin, true, OCS": (0.820, 43.1),
        "Bin, true, CAM": (0.993, 1.9),
        "Bin, true, PCM-GAM": (0.827, 58.3),
        "Bin, estimated, OCS": (0.828, 42.6),
        "Bin, estimated, CAM": (0.898, 28.7),
        "Bin, estimated, PCM-GAM": (0.738, 90.3),
    },
)

# tab:marginal-projection-comparison
PROJECTIONS = _rows(
    "a_top f1 shd projection",
    {
        "Poi, amortised": ((0.931, 0.017), (0.892, 0.034), (28.9, 8.7), 92.6),
        "Poi, stagewise direct": ((0.917, 0.016), (0.874, 0.034), (34.0, 9.2), 511.9),
        "Poi, stagewise recursive": ((0.916, 0.013), (0.869, 0.032), (35.1, 8.2), 544.5),
        "NB, amortised": ((0.931, 0.017), (0.792, 0.066), (51.2, 15.4), 94.0),
        "NB, stagewise direct": ((0.923, 0.019), (0.785, 0.055), (53.3, 13.1), 515.0),
        "NB, stagewise recursive": ((0.924, 0.021), (0.788, 0.053), (52.6, 12.9), 545.2),
        "Bin, amortised": ((0.901, 0.027), (0.877, 0.031), (32.3, 8.4), 94.2),
        "Bin, stagewise direct": ((0.901, 0.032), (0.873, 0.036), (33.4, 9.7), 510.3),
        "Bin, stagewise recursive": ((0.900, 0.025), (0.874, 0.035), (33.1, 9.2), 542.0),
    },
)

# tab:rank-transform-invariance
INVARIANCE = _rows(
    "a_top f1",
    {
        "DISCO, raw counts": (0.922, 0.894),
        "DISCO, log(1+x)": (0.922, 0.894),
        "DISCO, Anscombe": (0.922, 0.894),
        "DISCO, x²+x": (0.922, 0.894),
        "DISCO-NoRank, raw counts": (0.937, 0.899),
        "DISCO-NoRank, log(1+x)": (0.897, 0.726),
        "DISCO-NoRank, Anscombe": (0.890, 0.860),
        "DISCO-NoRank, x²+x": (0.834, 0.301),
    },
)

# tab:er1-recovery
ER1 = _rows(
    "a_top f1 shd",
    {
        "Poi affine": (0.816, 0.750, 49.0),
        "Poi nonlinear": (0.897, 0.873, 25.0),
        "NB affine": (0.841, 0.788, 42.5),
        "NB nonlinear": (0.907, 0.884, 22.0),
        "Bin affine": (0.886, 0.860, 28.5),
        "Bin nonlinear": (0.904, 0.886, 23.0),
        "Poi→NB→Bin": (0.891, 0.845, 29.5),
        "Poi→Bin→NB": (0.845, 0.796, 44.0),
        "NB→Poi→Bin": (0.810, 0.777, 44.0),
        "NB→Bin→Poi": (0.766, 0.705, 58.0),
        "Bin→Poi→NB": (0.739, 0.685, 67.0),
        "Bin→NB→Poi": (0.723, 0.633, 75.0),
    },
)

# tab:scale-free-recovery
SF = _rows(
    "a_top f1 shd",
    {
        "SF1, Poi": ((0.784, 0.065), (0.705, 0.091), (28.6, 8.5)),
        "SF1, NB": ((0.822, 0.054), (0.741, 0.094), (24.8, 8.9)),
        "SF1, Bin": ((0.778, 0.060), (0.782, 0.043), (20.1, 4.0)),
        "SF3, Poi": ((0.918, 0.019), (0.719, 0.074), (65.3, 14.4)),
        "SF3, NB": ((0.904, 0.035), (0.620, 0.114), (82.4, 19.7)),
        "SF3, Bin": ((0.769, 0.050), (0.693, 0.077), (71.2, 14.8)),
    },
)

# tab:nonstandard-count-recovery
COM_POISSON = _rows(
    "a_top f1 shd",
    {
        "ν = 0.5": ((0.934, 0.018), (0.853, 0.033), (37.8, 8.5)),
        "ν = 1": ((0.928, 0.020), (0.877, 0.043), (32.4, 10.2)),
        "ν = 2": ((0.920, 0.019), (0.873, 0.026), (33.6, 6.5)),
    },
)

# tab:scalability-main, tab:scale; what is absent took more than 240 minutes
SCALABILITY = _rows(
    "f1 a_top minutes",
    {
        "100, DISCO": (0.915, 0.937, 2.7),
        "100, ODS (Oracle)": (0.725, 0.819, 12.5),
        "100, MRS": (0.786, 0.797, 3.5),
        "100, NOTEARS-MLP": (0.467, 0.541, 174.1),
        "200, DISCO": (0.835, 0.902, 3.5),
        "200, ODS (Oracle)": (0.713, 0.816, 37.0),
        "200, MRS": (0.763, 0.779, 10.8),
        "500, DISCO": (0.769, 0.914, 10.8),
        "500, ODS (Oracle)": (0.729, 0.811, 204.7),
        "500, MRS": (0.742, 0.790, 96.3),
        "1000, DISCO": (0.769, 0.908, 57.4),
    },
)

# tab:continuous-recovery
CONTINUOUS = _rows(
    "a_top",
    {
        "ER1, Gaussian, DISCO-Cont": ((0.877, 0.063),),
        "ER1, Gaussian, DiffAN": ((0.850, 0.072),),
        "ER1, Gamma, DISCO-Cont": ((0.640, 0.126),),
        "ER1, Gamma, DiffAN": ((0.540, 0.137),),
        "ER3, Gaussian, DISCO-Cont": ((0.866, 0.041),),
        "ER3, Gaussian, DiffAN": ((0.882, 0.049),),
        "ER3, Gamma, DISCO-Cont": ((0.718, 0.021),),
        "ER3, Gamma, DiffAN": ((0.657, 0.057),),
    },
)

# tab:lahman-boundary and "Additional robustness checks"; "Family-specification sensitivity" (q4);
# tab:lahman-ods-raw; tab:lahman-ods-pairwise
LAHMAN = {
    **_rows(
        "r7 r17",
        {
            "q4, 2019–2025, DISCO clipped": (0.905, 0.843),
            "q4, 2019–2025, DISCO admissible": (0.762, 0.804),
            "q6, 2019–2025, DISCO admissible": (0.762, 0.765),
            "q8, 2019–2025, DISCO admissible": (0.762, 0.784),
            "raw, 2019–2025, DISCO admissible": (0.000, 0.137),
            "q4, 2012–2018, DISCO clipped": (0.952, 0.922),
        },
    ),
    **_rows(
        "r7",
        {
            "q4, 2019–2025, ODS Poi": (0.429,),
            "q4, 2019–2025, ODS NB": (0.333,),
            "q4, 2019–2025, ODS Bin": (0.429,),
        },
    ),
    **_rows(
        "r7 r17 edges",
        {
            "raw, 2019–2025, ODS Poi": (0.333, 0.412, 73.7),
            "raw, 2019–2025, ODS NB": (0.857, 0.843, 69.3),
            "raw, 2019–2025, ODS Bin": (0.286, 0.392, 79.7),
        },
    ),
    **_rows(
        "agreement jaccard shd",
        {
            "q4, 2019–2025, ODS Poi and NB": ((0.882, 0.007), (0.747, 0.023), (16.7, 1.5)),
            "q4, 2019–2025, ODS Poi and Bin": ((0.988, 0.008), (0.924, 0.021), (4.3, 1.2)),
            "q4, 2019–2025, ODS NB and Bin": ((0.880, 0.004), (0.713, 0.019), (19.0, 1.0)),
        },
    ),
}

FIGURES: dict[str, dict[str, dict[str, Figure]]] = {
    "ccs": CCS,
    "thresholds": THRESHOLDS,
    "selectors": SELECTORS,
    "projections": PROJECTIONS,
    "invariance": INVARIANCE,
    "er1": ER1,
    "sf": SF,
    "com-poisson": COM_POISSON,
    "scalability": SCALABILITY,
    "continuous": CONTINUOUS,
    "lahman": LAHMAN,
}
TIMEOUTS = (
    "200, NOTEARS-MLP",
    "500, NOTEARS-MLP",
    "1000, NOTEARS-MLP",
    "1000, ODS (Oracle)",
    "1000, MRS",
    *(f"{d}, DiffAN" for d in (100, 200, 500, 1000)),
)
