"""Parameters of slurm.conf that cannot stay as they are in a laboratory: what becomes of them, and why."""

from __future__ import annotations

_ADDRESS = "the controller runs on this host, on a free port"
_PATH = "files of the laboratory"
_AUTH = "no munge daemon and no keys: the laboratory is alone with itself"
_NODES = "there are no node daemons and no processes of jobs; a stand-in answers for all nodes"
_SCRIPTS = "programs of the site do not run in the laboratory"
_OTHERS = "no other service is there"

CHANGED: dict[str, tuple[str, str]] = {
    "authtype": ("auth/none", _AUTH),
    "credtype": ("cred/none", _AUTH),
    "proctracktype": ("proctrack/pgid", _NODES),
    "taskplugin": ("task/none", _NODES),
    "jobacctgathertype": ("jobacct_gather/none", _NODES),
    "switchtype": ("switch/none", _NODES),
    "mpidefault": ("none", _NODES),
    "jobcomptype": ("jobcomp/filetxt", "the record of jobs that schedlab reads"),
    "slurmctlddebug": ("info", "schedlab reads in the log which pass started a job"),
    "slurmdtimeout": ("0", "nodes never time out: there is no slurmd to wait for"),
    "slurmctldtimeout": ("60000", "there is no backup controller"),
    "inactivelimit": ("0", _NODES),
    "messagetimeout": ("100", "messages take real time, and a laboratory may be on a busy host"),
    "treewidth": ("65533", "the stand-in does not forward messages"),
    "batchstarttimeout": ("3600", _NODES),
    "slurmdparameters": ("config_overrides", "nodes have what their lines say, whatever this host has"),
}
"""Parameters that the laboratory sets, present or not: value and reason."""

DROPPED: dict[str, str] = {
    **dict.fromkeys(("controlmachine", "controladdr", "backupcontroller", "backupaddr", "slurmctldhost"), _ADDRESS),
    **dict.fromkeys(("slurmctldport", "slurmdport", "slurmctldaddr", "srunportrange"), _ADDRESS),
    "communicationparameters": _ADDRESS,
    **dict.fromkeys(("slurmuser", "slurmduser"), "the laboratory runs as who starts it"),
    **dict.fromkeys(
        ("slurmctldpidfile", "slurmdpidfile", "statesavelocation", "slurmdspooldir", "slurmctldlogfile",
         "slurmdlogfile", "slurmschedlogfile", "jobcomploc", "plugindir", "tmpfs"), _PATH),
    **dict.fromkeys(
        ("cryptotype", "authinfo", "authaltparameters", "authalttypes", "jobcredentialprivatekey",
         "jobcredentialpubliccertificate"), _AUTH),
    **dict.fromkeys(
        ("taskpluginparam", "jobacctgatherfrequency", "jobacctgatherparams", "jobcontainertype", "mpiparams",
        "coresspecplugin",
         "acctgathernodefreq", "acctgatherenergytype", "acctgatherprofiletype", "acctgatherinterconnecttype",
         "acctgatherinfinibandtype", "acctgatherfilesystemtype", "prologflags", "launchparameters", "slurmdsyslogdebug",
         "slurmddebug", "x11parameters", "usepam", "frontendname", "launchtype", "extsensorstype", "extsensorsfreq",
         "gpufreqdef", "cpufreqdef", "cpufreqgovernors", "propagateprioprocess", "killonbadexit", "nodefeaturesplugins",
         "prepplugins", "memlimitenforce", "vsizefactor", "namespacetype", "prologtimeout", "epilogtimeout",
         "healthchecktimeout"), _NODES),
    **dict.fromkeys(
        ("prolog", "epilog", "prologslurmctld", "epilogslurmctld", "taskprolog", "taskepilog", "srunprolog",
        "srunepilog",
         "healthcheckprogram", "healthcheckinterval", "healthchecknodestate", "rebootprogram", "mailprog",
         "resumeprogram",
         "suspendprogram", "unkillablestepprogram", "unkillablesteptimeout", "jobsubmitscript", "clifilterplugins",
         "plugstackconfig", "suspendtime", "resumefailprogram", "slurmctldprimaryonprog", "slurmctldprimaryoffprog"),
         _SCRIPTS),
    **dict.fromkeys(
        ("jobcomphost", "jobcompuser", "jobcomppass", "jobcompport", "accountingstoragehost", "accountingstorageport",
         "accountingstoragebackuphost", "accountingstorageuser", "accountingstoragepass", "accountingstorageloc",
         "accountingstorageexternalhost", "federationparameters", "slurmctldsyslogdebug", "debugflags",
         "slurmschedloglevel",
         "defaultstorageport", "defaultstoragehost", "defaultstoragetype", "defaultstorageuser", "defaultstoragepass",
         "slurmrestdoptions", "tlstype", "tlsparameters", "certmgrtype", "certmgrparameters", "certgentype",
         "certgenparameters", "metricstype", "metricsparameters", "metricsauthusers", "httpparsertype",
         "urlparsertype", "slurmctldhttpauthparameters", "slurmdhttpauthparameters", "burstbuffertype",
         "jobfileappend"), _OTHERS),
}  # fmt: skip
"""Parameters that cannot be used in a laboratory: the reason."""
