"""What chapter 3 of the thesis prints: Table 3.2, the four best functions, and Table 3.3, medians on its workloads."""

from __future__ import annotations

from schedlab_papers.sequences import SequenceLog, Study

NOT_PUBLIC = "The authors' jobs, 100,000 of the model, are not public."

TABLE_3_3 = Study(
    "thesis3",
    "Thesis (Carastan-Santos), Table 3.3: median over the sequences of the mean bounded slowdown",
    logs=(
        SequenceLog(
            "model 256",
            "",
            256,
            {
                "actual": (7830.58, 4018.25, 2717.84, 1222.67, 368.37, 151.53, 37.47, 42.88),
                "estimates": (7830.58, 7505.74, 4265.58, 5841.89, 590.40, 306.68, 60.76, 50.67),
                "backfilling": (1306.38, 1220.52, 508.95, 863.76, 122.72, 54.49, 42.91, 50.77),
            },
            notes=(NOT_PUBLIC,),
        ),
        SequenceLog(
            "model 1024",
            "",
            1_024,
            {
                "actual": (6910.82, 5229.28, 3176.86, 2404.65, 514.43, 73.43, 21.41, 24.78),
                "estimates": (6910.82, 6564.50, 3790.40, 5220.45, 1146.34, 559.86, 123.10, 32.33),
                "backfilling": (1262.63, 1651.83, 1079.08, 1296.65, 377.99, 180.75, 44.70, 30.24),
            },
            notes=(NOT_PUBLIC,),
        ),
        SequenceLog(
            "Curie",
            "CEA-Curie-2011-2.1-cln.swf.gz",
            93_312,
            {
                "actual": (290.27, 206.57, 110.14, 139.58, 18.77, 8.21, 4.27, 6.57),
                "estimates": (290.27, 258.17, 145.19, 218.77, 44.63, 12.15, 8.77, 9.86),
                "backfilling": (54.94, 49.23, 32.27, 35.72, 14.90, 9.57, 7.80, 9.81),
            },
            cut=15,
            skip=(0, 7),
        ),
        SequenceLog(
            "ANL Intrepid",
            "ANL-Intrepid-2009-1.swf.gz",
            163_840,
            {
                "actual": (40.93, 11.06, 5.83, 3.91, 2.12, 1.76, 2.07, 2.15),
                "estimates": (40.93, 18.33, 11.94, 9.17, 4.18, 3.29, 2.63, 2.74),
                "backfilling": (9.66, 7.19, 4.39, 3.79, 3.59, 2.87, 2.65, 2.74),
            },
            cut=15,
        ),
        SequenceLog(
            "HPC2N",
            "HPC2N-2002-2.2-cln.swf.gz",
            240,
            {
                "actual": (90.61, 22.20, 11.37, 12.16, 11.65, 15.40, 10.47, 12.12),
                "estimates": (90.61, 62.24, 28.34, 46.67, 27.81, 20.08, 16.90, 19.83),
                "backfilling": (36.43, 28.08, 16.22, 16.26, 15.31, 15.26, 16.83, 20.46),
            },
            cut=83,
            estimates_only=True,
        ),
        SequenceLog(
            "SDSC Blue",
            "SDSC-BLUE-2000-4.2-cln.swf.gz",
            1_152,
            {
                "actual": (370.22, 67.83, 29.53, 24.65, 20.03, 12.63, 4.41, 8.22),
                "estimates": (370.22, 136.11, 57.00, 46.82, 18.69, 9.66, 8.20, 11.52),
                "backfilling": (36.40, 14.07, 11.08, 9.87, 8.11, 8.02, 8.52, 11.59),
            },
            cut=64,
        ),
        SequenceLog(
            "SDSC SP2",
            "SDSC-SP2-1998-4.2-cln.swf.gz",
            128,
            {
                "actual": (629.60, 59.60, 25.84, 21.78, 29.14, 45.33, 15.58, 19.53),
                "estimates": (629.60, 243.86, 91.57, 48.43, 40.21, 41.38, 30.04, 34.13),
                "backfilling": (66.38, 41.61, 32.66, 28.38, 26.68, 25.31, 23.26, 32.06),
            },
            cut=47,
        ),
        SequenceLog(
            "CTC SP2",
            "CTC-SP2-1996-3.1-cln.swf.gz",
            338,
            {
                "actual": (438.37, 309.72, 33.86, 90.24, 18.77, 15.21, 5.32, 9.13),
                "estimates": (438.37, 369.93, 104.98, 306.78, 21.76, 18.23, 13.46, 12.33),
                "backfilling": (83.38, 54.32, 24.96, 14.40, 9.90, 11.07, 10.23, 12.88),
            },
            cut=22,
        ),
    ),
)
